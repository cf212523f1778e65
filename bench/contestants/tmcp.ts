/** tmcp with a codec that encrypts, as its documentation asks for. */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from "node:crypto";
import { getRequestListener } from "@hono/node-server";
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { HttpTransport } from "@tmcp/transport-http";
import { McpServer } from "tmcp";
import { tool } from "tmcp/utils";
import type * as z from "zod";
import { listen, options } from "./serve.ts";
import { AddInput, BugInput, CORE_TOOLS, DESCRIPTIONS, fillers, Original, Resolution, text } from "./tools.ts";

// A KeyObject: from raw bytes a cipher takes far longer to make on Node 24.
const key = createSecretKey(randomBytes(32));

const codec = {
  encode(state: unknown): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", key, nonce);
    const sealed = JSON.stringify({ state, expires: Date.now() + 600_000 });
    return Buffer.concat([nonce, cipher.update(sealed), cipher.final(), cipher.getAuthTag()]).toString("base64url");
  },
  decode(token: string): unknown {
    const bytes = Buffer.from(token, "base64url");
    if (bytes.length < 29) throw new Error("malformed");
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12), { authTagLength: 16 });
    decipher.setAuthTag(bytes.subarray(-16));
    const json = `${decipher.update(bytes.subarray(12, -16), undefined, "utf8")}${decipher.final("utf8")}`;
    const { state, expires } = JSON.parse(json) as { state: unknown; expires: number };
    if (Date.now() > expires) throw new Error("expired");
    return state;
  },
};

const server = new McpServer(
  { name: "bench", version: "1.0.0", description: "A contestant." },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} }, requestStateCodec: codec },
);

async function ask<T>(id: number, key: string, message: string, schema: z.ZodType<T>): Promise<T> {
  const state = server.ctx.requestState as { readonly id: number } | undefined;
  if (state !== undefined && state.id !== id) throw new Error("this state belongs to another work item");
  server.setRequestState({ id });
  const answer = await server.elicitation(message, schema, { key });
  if (answer.action !== "accept") throw new Error(`the person chose ${answer.action}`);
  return answer.content as T;
}

server.tool({ name: "add", description: DESCRIPTIONS.add, schema: AddInput }, ({ a, b }) => tool.text(String(a + b)));
server.tool(
  { name: "resolve_bug", description: DESCRIPTIONS.resolve_bug, schema: BugInput, replayable: true },
  async ({ id }) => {
    const answer = await ask(id, "resolution", text.howResolved(id), Resolution);
    return tool.text(text.closed(id, answer.resolution));
  },
);
server.tool(
  { name: "resolve_duplicate", description: DESCRIPTIONS.resolve_duplicate, schema: BugInput, replayable: true },
  async ({ id }) => {
    const { resolution } = await ask(id, "resolution", text.howResolved(id), Resolution);
    const { original } = await ask(id, "original", text.whichOriginal(id), Original);
    return tool.text(text.duplicate(id, resolution, original));
  },
);
for (const { name, title, description, input } of fillers(options().tools - CORE_TOOLS)) {
  server.tool({ name, title, description, schema: input }, () => tool.text("done"));
}

const transport = new HttpTransport(server, { path: "/mcp", allowedOrigins: [] });
listen(
  getRequestListener(async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 })),
);
