// The official SDK from its start to its first answer.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

const input = { inputSchema: z.object({ a: z.number(), b: z.number() }) };
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool("add", input, ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
  return server;
});
const http = createServer(toNodeHandler(handler));
http.listen(0, "127.0.0.1", () => process.send({ port: http.address().port }));
