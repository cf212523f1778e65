/** mcp-lite speaks an older revision without rounds: it takes part in the plain call and the list. */
import { getRequestListener } from "@hono/node-server";
import { McpServer, StreamableHttpTransport } from "mcp-lite";
import * as z from "zod";
import { listen, options } from "./serve.ts";
import { AddInput, BugInput, CORE_TOOLS, DESCRIPTIONS, fillers } from "./tools.ts";

const server = new McpServer({
  name: "bench",
  version: "1.0.0",
  schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
});
const done = { content: [{ type: "text" as const, text: "done" }] };

server.tool("add", {
  description: DESCRIPTIONS.add,
  inputSchema: AddInput,
  handler: ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
});
// Two more, so that it has as many tools as the others.
server.tool("resolve_bug", { description: DESCRIPTIONS.resolve_bug, inputSchema: BugInput, handler: () => done });
server.tool("resolve_duplicate", {
  description: DESCRIPTIONS.resolve_duplicate,
  inputSchema: BugInput,
  handler: () => done,
});
for (const { name, title, description, input } of fillers(options().tools - CORE_TOOLS)) {
  server.tool(name, { title, description, inputSchema: input, handler: () => done });
}

const respond = new StreamableHttpTransport().bind(server);
listen(getRequestListener((request) => respond(request)));
