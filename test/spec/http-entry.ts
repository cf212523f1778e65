// One way to post to a server, by node:http over a socket and by the fetch handler without one.
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import type { Server } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";

export const VERSION = "2026-07-28";
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

export interface Sent {
  readonly method?: string;
  /** Undefined leaves a header out that would be sent otherwise. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array | object;
}

export interface Answered {
  readonly status: number;
  header(name: string): string | null;
  readonly text: string;
  /** The one JSON message, or the last event. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  readonly json: any;
  /** The messages of an event stream. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  readonly events: readonly any[];
}

export interface Entry {
  send(sent: Sent): Promise<Answered>;
  close(): Promise<void>;
}

export type Open = (server: Server) => Promise<Entry>;

/** A request of this revision with its metadata. */
export function message(
  method: string,
  params: Record<string, unknown> = {},
  meta: Record<string, unknown> = {},
): object {
  const _meta = { [VERSION_KEY]: VERSION, [CAPABILITIES_KEY]: {}, ...meta };
  return { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } };
}

/** The headers that a conforming client sends with this body. */
export function headersFor(body: unknown): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  if (typeof body !== "object" || body === null || !("method" in body) || !("id" in body)) return headers;
  const { method, params = {} } = body as { method: string; params?: Record<string, unknown> };
  headers["mcp-protocol-version"] = VERSION;
  headers["mcp-method"] = method;
  const name = params.name ?? params.uri;
  if (typeof name === "string") headers["mcp-name"] = name;
  return headers;
}

function prepare(sent: Sent): { headers: Record<string, string>; body: string | Uint8Array | undefined } {
  const all: Record<string, string | undefined> = { ...headersFor(sent.body), ...sent.headers };
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(all)) if (value !== undefined) headers[name] = value;
  const { body } = sent;
  const text = typeof body === "object" && !(body instanceof Uint8Array) ? JSON.stringify(body) : body;
  return { headers, body: text };
}

function answered(status: number, header: (name: string) => string | null, text: string): Answered {
  const events = [...text.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1] as string));
  const streamed = header("content-type") === "text/event-stream";
  return { status, header, text, events, json: streamed ? events.at(-1) : text === "" ? undefined : JSON.parse(text) };
}

export const openNode: Open = async (server) => {
  const http = createServer(nodeHandler(server));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  return {
    send: (sent) =>
      new Promise((resolve, reject) => {
        const { headers, body } = prepare(sent);
        const req = httpRequest(
          { host: "127.0.0.1", port, path: "/mcp", method: sent.method ?? "POST", headers },
          (res) => {
            res.setEncoding("utf8");
            let text = "";
            res.on("data", (chunk: string) => {
              text += chunk;
            });
            res.on("end", () => {
              const header = (name: string): string | null => res.headers[name]?.toString() ?? null;
              resolve(answered(res.statusCode ?? 0, header, text));
            });
            res.on("error", reject);
          },
        );
        req.on("error", reject);
        req.end(body);
      }),
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
};

export const openFetch: Open = async (server) => ({
  async send(sent) {
    const { headers, body } = prepare(sent);
    const init = { method: sent.method ?? "POST", headers, ...(body === undefined ? {} : { body: body as BodyInit }) };
    const response = await server.fetch(new Request("http://127.0.0.1:3000/mcp", init));
    return answered(response.status, (name) => response.headers.get(name), await response.text());
  },
  async close() {},
});

/** Both ways in, for `describe.each`. */
export const entries: readonly (readonly [name: string, open: Open])[] = [
  ["node:http", openNode],
  ["fetch", openFetch],
];
