import { expect, test, vi } from "vitest";
import { z } from "zod";
import { createServer, Failed, NotDone } from "../../../src/index.ts";
import { createPair } from "../../../src/testing.ts";

test.each([
  ["decline", 'The request for "size" was declined.'],
  ["cancel", 'The request for "size" was dismissed without an answer.'],
] as const)("a %s ends a tool with one sentence and is no fault for the operator", async (answer, sentence) => {
  const trace = vi.fn();
  const server = createServer({ name: "shop", version: "1.0.0", trace });
  server.tool("order", {}, async (_args, ctx) => {
    await ctx.elicit("size", { message: "Which size?", schema: z.object({ size: z.string() }) });
    return "Ordered.";
  });
  await using client = await createPair(server, { form: () => answer });
  const { content, isError } = await client.callTool("order");
  expect({ content, isError }).toEqual({ content: [{ type: "text", text: sentence }], isError: true });
  expect(trace).not.toHaveBeenCalledWith(expect.objectContaining({ type: "fault" }));
});

test("answers that nobody can use end a tool with one sentence and are no fault for the operator", async () => {
  const trace = vi.fn();
  const server = createServer({ name: "shop", version: "1.0.0", trace });
  const Even = z.object({ size: z.number().refine((size) => size % 2 === 0, "must be even") });
  server.tool("order", {}, async (_args, ctx) => {
    await ctx.elicit("size", { message: "Which size?", schema: Even });
    return "Ordered.";
  });
  await using client = await createPair(server, { form: () => ({ size: 3 }) });
  const { content, isError } = await client.callTool("order");
  const text = 'No usable answer to "size" came in 4 tries. "size": must be even';
  expect({ content, isError }).toEqual({ content: [{ type: "text", text }], isError: true });
  expect(trace).not.toHaveBeenCalledWith(expect.objectContaining({ type: "fault" }));
});

test.each([
  ["NotDone", new NotDone("The card was declined.")],
  ["Failed", new Failed("The account is closed.")],
])(
  "an effect that says how it failed (%s) ends a tool with its sentence and is no fault for the operator",
  async (_, error) => {
    const trace = vi.fn();
    const server = createServer({ name: "shop", version: "1.0.0", singleInstance: true, trace });
    server.tool("pay", {}, (_args, ctx) =>
      ctx.once("pay", { key: "order 1", keepFor: 60_000 }, () => {
        throw error;
      }),
    );
    await using client = await createPair(server);
    const { content, isError } = await client.callTool("pay");
    expect({ content, isError }).toEqual({ content: [{ type: "text", text: error.message }], isError: true });
    expect(trace).not.toHaveBeenCalledWith(expect.objectContaining({ type: "fault" }));
  },
);
