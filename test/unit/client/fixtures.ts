// Hand-written servers: literal messages over HTTP, and over a transport in memory.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Transport } from "../../../src/client/transport.ts";
import type { JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, Result } from "../../../src/protocol/index.ts";

/** A request as a server saw it. */
export interface Seen {
  readonly id: number;
  readonly method: string;
  readonly params: Record<string, unknown> & { readonly _meta: Record<string, unknown> };
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
}

/** What a server does: returns the result, throws nothing, or writes the reply itself and returns undefined. */
export type Script = (seen: Seen, reply: ServerResponse) => unknown;

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: Seen[];
  /** The requests of one method. */
  of(method: string): Seen[];
  /** How many connections were opened. */
  readonly connections: () => number;
}

/** Answers every POST by the script: a result object, or `{ error }`. */
export async function serve(script: Script, at = 0): Promise<HttpServer> {
  const seen: Seen[] = [];
  let connections = 0;
  const server = createServer((incoming, reply) => {
    let text = "";
    incoming.setEncoding("utf8");
    incoming.on("data", (chunk: string) => {
      text += chunk;
    });
    incoming.on("end", async () => {
      const message: Seen = { ...JSON.parse(text), headers: incoming.headers, rawHeaders: incoming.rawHeaders };
      seen.push(message);
      const answer = await script(message, reply);
      if (answer !== undefined) sendJson(reply, 200, answerOf(message.id, answer));
    });
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    of: (method) => seen.filter((message) => message.method === method),
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJson(reply: ServerResponse, status: number, body: unknown): void {
  reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Opens an SSE stream; messages are written as events. */
export function openStream(reply: ServerResponse): { send(message: unknown): void; end(): void } {
  reply.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  reply.flushHeaders();
  return {
    send: (message) => void reply.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`),
    end: () => void reply.end(),
  };
}

function answerOf(id: unknown, answer: unknown): unknown {
  const isError = typeof answer === "object" && answer !== null && "error" in answer && !("resultType" in answer);
  return isError ? { jsonrpc: "2.0", id, ...answer } : { jsonrpc: "2.0", id, result: answer };
}

export interface MemoryTransport extends Transport {
  readonly requests: JSONRPCRequest[];
}

/** A transport whose server is a function: the next result, an error response, or a promise of either. */
export function memory(
  answer: (request: JSONRPCRequest, notify: (notification: JSONRPCNotification) => void) => unknown,
  kind: Transport["kind"] = "memory",
): MemoryTransport {
  const requests: JSONRPCRequest[] = [];
  const closing = new Set<(error: unknown) => void>();
  return {
    kind,
    address: "memory",
    requests,
    send(request, { signal, onNotification }) {
      // Through text, as a real transport has it.
      requests.push(JSON.parse(JSON.stringify(request)));
      return new Promise<JSONRPCResponse>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        closing.add(reject);
        Promise.resolve(answer(request, onNotification)).then(
          (answered) => resolve(JSON.parse(JSON.stringify(answerOf(request.id, answered)))),
          reject,
        );
      });
    },
    async close() {
      for (const reject of closing) reject(new Error("closed"));
    },
  };
}

/** What every client declares unless it is told not to. */
export const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } } as const;

export function text(value: string): Result {
  return { resultType: "complete", content: [{ type: "text", text: value }] };
}

/** A form that asks for the fields given. */
export function form(
  properties: Record<string, unknown>,
  required: string[] = [],
  message = "Please fill in",
): unknown {
  return {
    method: "elicitation/create",
    params: { mode: "form", message, requestedSchema: { type: "object", properties, required } },
  };
}

export function inputRequired(inputRequests: unknown, requestState?: string): Record<string, unknown> {
  return {
    resultType: "input_required",
    ...(inputRequests === undefined ? {} : { inputRequests }),
    ...(requestState === undefined ? {} : { requestState }),
  };
}
