/**
 * The official SDK with sessions, as the revisions before 2026-07-28 have to be served: one server and one transport
 * for each session, and a handler that waits for its answer in memory.
 */
import { randomUUID } from "node:crypto";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { McpServer } from "@modelcontextprotocol/server";
import { listen } from "./serve.ts";
import { BugInput, DESCRIPTIONS, RESOLUTION_FORM, text } from "./tools.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const config = { description: DESCRIPTIONS.resolve_bug, inputSchema: BugInput };
const sessions = new Map<string, NodeStreamableHTTPServerTransport>();

async function open(): Promise<NodeStreamableHTTPServerTransport> {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool("resolve_bug", config, async ({ id }, ctx) => {
    const question = { mode: "form" as const, message: text.howResolved(id), requestedSchema: RESOLUTION_FORM };
    // On the stream of the call itself: otherwise every session needs a second connection.
    const answer = await ctx.mcpReq.elicitInput(question, { timeout: DAY_MS, relatedRequestId: ctx.mcpReq.id });
    return { content: [{ type: "text", text: text.closed(id, String(answer.content?.resolution)) }] };
  });
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  return transport;
}

listen((request, response) => {
  const id = request.headers["mcp-session-id"];
  const known = typeof id === "string" ? sessions.get(id) : undefined;
  void (async () => (known ?? (await open())).handleRequest(request, response))();
});
