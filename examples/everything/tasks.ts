import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { RpcError, type Server, ToolError } from "./volley.ts";

const Name = z.object({ name: z.string() });
const Confirm = z.object({ confirm: z.boolean() });

/** Tools that go on as tasks; the conformance suite knows their names. */
export function registerTasks(server: Server): void {
  server.tool("greet", { description: "Greets at once", input: Name }, ({ name }) => `Hello, ${name}!`);
  server.tool(
    "slow_compute",
    {
      description: "Computes for some seconds, as a task where the client follows tasks",
      task: "optional",
      input: z.object({ seconds: z.number().min(0).max(3_600).default(1), label: z.string().default("result") }),
    },
    async ({ seconds, label }, ctx) => {
      ctx.progress(0, seconds, `Computing ${label}`);
      await ctx.step("compute", () => delay(seconds * 1_000, undefined, { signal: ctx.signal }));
      return `Computed ${label} in ${seconds} s.`;
    },
  );
  server.tool("failing_job", { description: "Fails as a tool does", task: "required" }, async (_args, ctx) => {
    await ctx.step("try", () => delay(1_000));
    throw new ToolError("The job has failed.");
  });
  server.tool("protocol_error_job", { description: "Fails as a request does", task: "required" }, () => {
    throw new RpcError(-32603, "The job could not be run.");
  });
  server.tool(
    "confirm_delete",
    { description: "Asks before it deletes", task: "required", input: z.object({ filename: z.string() }) },
    async ({ filename }, ctx) => {
      const { confirm } = await ctx.elicit("confirm", { message: `Delete ${filename}?`, schema: Confirm });
      return confirm ? `Deleted ${filename}.` : `Kept ${filename}.`;
    },
  );
  server.tool("multi_input", { description: "Asks two things at once", task: "required" }, async (_args, ctx) => {
    const [{ name }, { confirm }] = await Promise.all([
      ctx.elicit("name", { message: "What is your name?", schema: Name }),
      ctx.elicit("confirm", { message: "Go ahead?", schema: Confirm }),
    ]);
    return confirm ? `Went ahead for ${name}.` : "Left alone.";
  });
  server.tool("test_tool_with_task", { description: "Asks first, then goes on as a task" }, async (_args, ctx) => {
    const { name } = await ctx.elicit("user_name", { message: "What is your name?", schema: Name });
    await ctx.toTask({ message: `Preparing a greeting for ${name}` });
    await ctx.step("prepare", () => delay(100));
    return `Hello, ${name}!`;
  });
}
