/** The two requests of a call written by hand, for the clients that are no more than a transport. */
import { ANSWER, type BenchClient } from "./client.ts";

const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "resolve_bug",
};
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
};

interface Message {
  readonly result: {
    readonly inputRequests?: Record<string, unknown>;
    readonly requestState?: string;
    readonly content?: readonly { readonly text: string }[];
  };
}

/** Makes a client of a function that posts a body with headers and returns the answer's body. */
export function byHand(post: (headers: Record<string, string>, body: string) => Promise<string>): BenchClient {
  let lastId = 0;
  async function request(params: object): Promise<Message["result"]> {
    lastId += 1;
    const message = { jsonrpc: "2.0", id: lastId, method: "tools/call", params: { _meta: META, ...params } };
    return (JSON.parse(await post(HEADERS, JSON.stringify(message))) as Message).result;
  }
  return {
    async call(id): Promise<string> {
      const original = { name: "resolve_bug", arguments: { id } };
      const asked = await request(original);
      const keys = Object.keys(asked.inputRequests ?? {});
      const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: "accept", content: ANSWER }]));
      const done = await request({ ...original, inputResponses, requestState: asked.requestState });
      return done.content?.[0]?.text ?? "";
    },
  };
}
