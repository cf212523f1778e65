/** Volley as its guide shows it. */

import { nodeHandler } from "volley-mcp/node";
import { listen, options } from "./serve.ts";
import { AddInput, BugInput, CORE_TOOLS, DESCRIPTIONS, fillers, Original, Resolution, text } from "./tools.ts";
import { createBenchServer } from "./volley-server.ts";

const server = createBenchServer();

server.tool("add", { description: DESCRIPTIONS.add, input: AddInput }, ({ a, b }) => String(a + b));
server.tool("resolve_bug", { description: DESCRIPTIONS.resolve_bug, input: BugInput }, async ({ id }, ctx) => {
  const { resolution } = await ctx.elicit("resolution", { message: text.howResolved(id), schema: Resolution });
  return text.closed(id, resolution);
});
server.tool(
  "resolve_duplicate",
  { description: DESCRIPTIONS.resolve_duplicate, input: BugInput },
  async ({ id }, ctx) => {
    const { resolution } = await ctx.elicit("resolution", { message: text.howResolved(id), schema: Resolution });
    const { original } = await ctx.elicit("original", { message: text.whichOriginal(id), schema: Original });
    return text.duplicate(id, resolution, original);
  },
);
for (const { name, title, description, input } of fillers(options().tools - CORE_TOOLS)) {
  server.tool(name, { title, description, input }, () => "done");
}

listen(nodeHandler(server));
