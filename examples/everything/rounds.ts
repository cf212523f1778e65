import { z } from "zod";
import type { Context, Server } from "./volley.ts";

const Name = z.object({ name: z.string() });
const Ok = z.object({ ok: z.boolean() });

/** The flows that the conformance suite plays, written as straight lines. */
export function registerRounds(server: Server): void {
  server.tool(
    "test_input_required_result_elicitation",
    // The suite also sends an answer to a question that it was never asked. A greeting can take that.
    { description: "Asks for a name", answersWithoutState: "accept" },
    async (_args, ctx) => {
      const { name } = await ctx.elicit("user_name", { message: "What is your name?", schema: Name });
      return `Hello, ${name}!`;
    },
  );
  server.tool("test_input_required_result_sampling", { description: "Asks the client's model" }, async (_args, ctx) =>
    askModel(ctx, "capital_question", "What is the capital of France?"),
  );
  server.tool(
    "test_input_required_result_list_roots",
    { description: "Asks for the client's roots" },
    async (_args, ctx) => {
      const roots = await ctx.listRoots("client_roots");
      return roots.map((root) => root.uri).join(" ");
    },
  );
  server.tool(
    "test_input_required_result_request_state",
    { description: "Asks for a confirmation and carries state" },
    async (_args, ctx) => {
      const { ok } = await ctx.elicit("confirm", { message: "Please confirm", schema: Ok });
      return ok ? "state-ok" : "not confirmed";
    },
  );
  server.tool(
    "test_input_required_result_multiple_inputs",
    { description: "Asks for a name, a greeting and the roots in one round" },
    async (_args, ctx) => {
      const [{ name }, greeting, roots] = await Promise.all([
        ctx.elicit("user_name", { message: "What is your name?", schema: Name }),
        askModel(ctx, "greeting", "Generate a greeting"),
        ctx.listRoots("client_roots"),
      ]);
      return `${greeting} ${name}, you have ${roots.length} roots.`;
    },
  );
  server.tool(
    "test_input_required_result_multi_round",
    { description: "Asks for a name, then for a color" },
    async (_args, ctx) => {
      const { name } = await ctx.elicit("step1", { message: "Step 1: What is your name?", schema: Name });
      const { color } = await ctx.elicit("step2", { message: "Step 2: What is your favorite color?", schema: Color });
      return `${name} likes ${color}.`;
    },
  );
  server.tool(
    "test_input_required_result_tampered_state",
    { description: "Asks for a confirmation; its state must come back as it was" },
    async (_args, ctx) => {
      const { ok } = await ctx.elicit("confirm", { message: "Please confirm", schema: Ok });
      return ok ? "Confirmed." : "Not confirmed.";
    },
  );
  server.tool(
    "test_input_required_result_capabilities",
    { description: "Asks only what the client can answer" },
    async (_args, ctx) => {
      const { elicitation, sampling } = ctx.client.capabilities;
      const [form, capital] = await Promise.all([
        elicitation && ctx.elicit("user_name", { message: "What is your name?", schema: Name }),
        sampling && askModel(ctx, "capital_question", "What is the capital of France?"),
      ]);
      return `name: ${form?.name ?? "not asked"}, capital: ${capital ?? "not asked"}`;
    },
  );
  server.tool("test_missing_capability", { description: "Needs a client with sampling" }, async (_args, ctx) =>
    askModel(ctx, "llm_answer", "Reply with the single word: pong"),
  );
  server.tool(
    "test_streaming_elicitation",
    { description: "Reports progress, then asks on the same stream" },
    async (_args, ctx) => {
      ctx.progress(1, 2, "about to ask");
      const { name } = await ctx.elicit("user_name", { message: "What is your name?", schema: Name });
      return `Hello, ${name}!`;
    },
  );
}

const Color = z.object({ color: z.string() });

/** Asks the client's model one thing and takes the text of its answer. */
export async function askModel(ctx: Context, key: string, question: string): Promise<string> {
  const { content } = await ctx.createMessage(key, {
    messages: [{ role: "user", content: { type: "text", text: question } }],
    maxTokens: 100,
  });
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}
