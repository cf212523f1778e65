// The client against our own server, over HTTP, with tasks in a file.
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { type ConnectOptions, connect, type Task, type TaskData } from "../../../src/client.ts";
import { RpcError, type Server, ToolError } from "../../../src/index.ts";
import { serveHttp } from "../../../src/node.ts";
import type { TasksOptions } from "../../../src/tasks.ts";
import { hasSqlite, type Rig, rig } from "../tasks/harness.ts";

const Name = z.object({ name: z.string() });
const AUDIENCE = "https://tasks.example/mcp";

interface Serving extends AsyncDisposable {
  readonly rig: Rig;
  readonly url: string;
  /** The methods that were sent by clients with {@link Serving.options}. */
  readonly sent: string[];
  readonly options: Pick<ConnectOptions, "fetch">;
}

async function serving(
  register: (server: Server) => void,
  options: { readonly path?: string; readonly worker?: false; readonly tasks?: Partial<TasksOptions> } = {},
): Promise<Serving> {
  const on = await rig(register, { ...options, server: { audience: AUDIENCE } });
  const http = await serveHttp(on.server, { port: 0 });
  const sent: string[] = [];
  return {
    rig: on,
    url: http.url,
    sent,
    options: {
      fetch: (address, init) => {
        sent.push(String(new Headers(init?.headers).get("mcp-method")));
        return fetch(address, init);
      },
    },
    [Symbol.asyncDispose]: async () => {
      await http.close(100);
      await on[Symbol.asyncDispose]();
    },
  };
}

function registerDeploy(server: Server): void {
  const output = z.object({ app: z.string(), region: z.string() });
  server.tool("deploy", { output }, async (_args, ctx) => {
    const { name: region } = await ctx.elicit("region", { message: "Where to?", schema: Name });
    await ctx.toTask({ message: "Deploying" });
    await ctx.step("build", () => 1);
    ctx.progress(1, 2, "Built");
    const { name: app } = await ctx.elicit("app", { message: "Which app?", schema: Name });
    return { app, region };
  });
}

describe.skipIf(!hasSqlite)("with our own server", () => {
  test("T5, T6: rounds, then a task that asks once more, followed by notifications alone", async () => {
    await using on = await serving(registerDeploy);
    const asked: string[] = [];
    const told: Task[] = [];
    await using client = await connect(on.url, {
      ...on.options,
      form: ({ key }) => {
        asked.push(key);
        return { name: key.toUpperCase() };
      },
    });
    const result = await client.callTool("deploy", {}, { onTask: (task) => told.push(task) });
    expect(result.structuredContent).toEqual({ app: "APP", region: "REGION" });
    expect(asked).toEqual(["region", "app"]);
    expect(told[0]).toMatchObject({ status: "working", statusMessage: "Deploying" });
    expect(told.map(({ status }) => status)).toContain("input_required");
    expect(told.at(-1)?.status).toBe("completed");
    expect(told.some(({ statusMessage }) => statusMessage?.includes("Built"))).toBe(true);
    const count = (method: string): number => on.sent.filter((sent) => sent === method).length;
    expect(["tools/call", "subscriptions/listen", "tasks/update"].map(count)).toEqual([2, 1, 1]);
    // At most before the stream is open.
    expect(count("tasks/get")).toBeLessThanOrEqual(1);
  });

  test("T3: several questions at once: each is asked once and answered", async () => {
    await using on = await serving((server) => {
      server.tool("ask", { task: "required" }, async (_args, ctx) => {
        const names = await Promise.all(["a", "b", "c"].map((key) => ctx.elicit(key, { message: key, schema: Name })));
        return names.map(({ name }) => name).join(" ");
      });
    });
    const asked: string[] = [];
    await using client = await connect(on.url, {
      form: async ({ key }) => {
        asked.push(key);
        if (key === "b") await new Promise((resolve) => setTimeout(resolve, 300));
        return { name: key };
      },
    });
    expect((await client.callTool("ask")).content).toEqual([{ type: "text", text: "a b c" }]);
    expect(asked.sort()).toEqual(["a", "b", "c"]);
  });

  test("C11, T7, case 44: by hand, kept as text, gone on with by another client after a restart", async () => {
    await using first = await serving(registerDeploy, { worker: false });
    let saved: string;
    {
      await using client = await connect(first.url);
      const asked = await client.start("tools/call", { name: "deploy" });
      if (asked.done) throw new Error("it asks nothing");
      asked.answer("region", { name: "west" });
      const ended = await asked.continue();
      saved = JSON.stringify(ended.done && ended.task);
    }
    await first.rig.server.close(100);
    await using second = await serving(registerDeploy, { path: first.rig.path });
    await using client = await connect(second.url);
    const task = client.task(saved as unknown as TaskData);
    await vi.waitFor(async () => expect(await task.get()).toMatchObject({ status: "input_required" }), {
      timeout: 10_000,
    });
    const ending = task.result();
    await task.answer({ app: { name: "shop" } });
    expect((await ending).structuredContent).toEqual({ app: "shop", region: "west" });
  });

  test("T9: what ends otherwise: an RpcError, isError, an unknown id", async () => {
    await using on = await serving((server) => {
      server.tool("breaks", { task: "required" }, () => {
        throw new RpcError(-32603, "API rate limit exceeded", { wait: 5 });
      });
      server.tool("throws", { task: "required" }, () => {
        throw new ToolError("no disk");
      });
    });
    await using client = await connect(on.url);
    await expect(client.callTool("breaks")).rejects.toMatchObject({
      code: -32603,
      message: "API rate limit exceeded",
      data: { wait: 5 },
    });
    expect(await client.callTool("throws")).toMatchObject({ isError: true, content: [{ text: "no disk" }] });
    await expect(client.task("nobody").get()).rejects.toMatchObject({ code: -32602, message: "Task not found" });
    await using without = await connect(on.url, { tasks: false });
    await expect(without.callTool("throws")).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
    });
  });

  test("C9: the caller's signal stops the handler", async () => {
    let runs = false;
    let stopped = false;
    await using on = await serving((server) => {
      server.tool("long", { task: "required" }, async (_args, ctx) => {
        await ctx.step("wait", async () => {
          runs = true;
          await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
          stopped = true;
          ctx.signal.throwIfAborted();
        });
        return "done";
      });
    });
    await using client = await connect(on.url);
    const giving = new AbortController();
    let id = "";
    const call = client.callTool(
      "long",
      {},
      {
        signal: giving.signal,
        onTask: ({ taskId }) => {
          id = taskId;
        },
      },
    );
    call.catch(() => undefined);
    await vi.waitFor(() => expect([runs, id]).toEqual([true, expect.stringMatching(/./)]), { timeout: 5_000 });
    giving.abort();
    await expect(call).rejects.toMatchObject({ code: "aborted" });
    await vi.waitFor(async () => expect(await client.task(id).get()).toMatchObject({ status: "cancelled" }), {
      timeout: 10_000,
    });
    expect(stopped).toBe(true);
    await expect(client.task(id).result()).rejects.toMatchObject({ code: "cancelled" });
  });

  test("T8: the wire of SEP-2322 on both sides", async () => {
    await using on = await serving(
      (server) => {
        server.tool("echo", { task: "optional" }, async (_args, ctx) => {
          const { name } = await ctx.elicit("echo_input", { message: "What?", schema: Name });
          return `Echo: ${name}`;
        });
      },
      { tasks: { sep2322: true, pollIntervalMs: 100 } },
    );
    await using client = await connect(on.url, {
      ...on.options,
      tasks: "sep2322",
      form: () => ({ name: "Hello World!" }),
    });
    const result = await client.callTool("echo", {}, { taskTtlMs: 60_000 });
    expect(result.content).toEqual([{ type: "text", text: "Echo: Hello World!" }]);
    expect(result._meta).toMatchObject({ "io.modelcontextprotocol/related-task": { taskId: expect.any(String) } });
    expect(on.sent.filter((method) => method === "tasks/input_response")).toHaveLength(1);
    expect(on.sent).not.toContain("tasks/update");
  });
});
