import { expect, test, vi } from "vitest";
import { z } from "zod";
import { createServer } from "../../../src/index.ts";
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
