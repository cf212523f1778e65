/** Flows of any length and journals of any size: what a round costs as they grow. */

import { nodeHandler } from "volley-mcp/node";
import * as z from "zod";
import { listen, options } from "./serve.ts";
import { BugInput, DESCRIPTIONS, fillers, Resolution, text } from "./tools.ts";
import { createBenchServer } from "./volley-server.ts";

const server = createBenchServer();

if (options().tools === 0) {
  server.tool("ask_often", { input: z.object({ asks: z.int().min(1).max(32) }) }, async ({ asks }, ctx) => {
    for (let i = 1; i <= asks; i += 1) {
      await ctx.elicit(`question-${i}`, { message: text.howResolved(i), schema: Resolution });
    }
    return `${asks} answers`;
  });
  server.tool(
    "remember",
    { input: z.object({ bytes: z.int().min(0).max(65_536) }), maxStateBytes: 256 * 1024 },
    async ({ bytes }, ctx) => {
      const value = await ctx.step("load", () => "x".repeat(bytes));
      await ctx.elicit("question-1", { message: text.howResolved(1), schema: Resolution });
      return `${value.length} bytes`;
    },
  );
} else {
  server.tool("resolve_bug", { description: DESCRIPTIONS.resolve_bug, input: BugInput }, async ({ id }, ctx) => {
    const { resolution } = await ctx.elicit("resolution", { message: text.howResolved(id), schema: Resolution });
    return text.closed(id, resolution);
  });
  for (const { name, title, description, input } of fillers(options().tools - 1)) {
    server.tool(name, { title, description, input }, () => "done");
  }
}

listen(nodeHandler(server));
