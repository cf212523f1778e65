// HTTP on Node: node:http(s) with one pool of kept-alive connections, a fraction of the CPU that fetch takes.
import type { AgentOptions, ClientRequest, IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { type JSONRPCRequest, type JSONRPCResponse, VolleyError } from "../protocol/index.ts";
import { closedError } from "./errors.ts";
import { callerHeaders, FIXED_HEADERS, type HeaderSource, isEventStream, readReply } from "./http.ts";
import { decoded } from "./http-decode.ts";
import { MAX_MESSAGE_SIZE, tooLarge } from "./messages.ts";
import { createStreamReader } from "./sse.ts";
import type { SendOptions, Transport } from "./transport.ts";

/** How long a stream may stay open after its answer before its connection is given up. */
const LINGER_MS = 1_000;
/**
 * How long a connection may lie idle. Servers commonly close theirs after five seconds or more; a request that meets such a
 * close on its way fails, and nobody can say whether it was heard.
 */
const IDLE_MS = 4_000;
/** How often the system looks whether a quiet stream still has somebody at its other end. */
const KEEPALIVE_MS = 30_000;

/** Connects to an MCP endpoint by node:http or node:https. */
export function createNodeHttpTransport(url: URL, source: HeaderSource): Transport {
  const secure = url.protocol === "https:";
  const address = url.origin + url.pathname;
  // Not imported: a bundler would lift that to the top of what it makes for a runtime that lacks it.
  const { Agent, globalAgent, request: open } = process.getBuiltinModule(secure ? "node:https" : "node:http");
  // The environment's proxies, where Node itself was told to use them and can (22.21 and 24.5 on): as its fetch does.
  const proxyEnv = (globalAgent as { options?: AgentOptions }).options?.proxyEnv;
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS, ...(proxyEnv === undefined ? {} : { proxyEnv }) });
  const target = {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    method: "POST",
    agent,
  };
  const fixed = ["host", url.host, ...flat(FIXED_HEADERS)];
  const withFixed = (headers: Readonly<Record<string, string>>): string[] => [
    ...fixed,
    // Unlike fetch, which decodes cheaply what it asks for; what comes compressed all the same is read.
    ...flat({ "accept-encoding": "identity", ...callerHeaders(headers) }),
  ];
  const headers = typeof source === "function" ? async () => withFixed(await source()) : withFixed(source);
  const inFlight = new Set<(error: VolleyError) => void>();
  let closed = false;

  function exchange(request: JSONRPCRequest, options: SendOptions, first: readonly string[]): Promise<JSONRPCResponse> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      if (closed) return reject(closedError());
      if (signal.aborted) return reject(signal.reason);
      const body = JSON.stringify(request);
      const headers = [...first, "content-length", String(Buffer.byteLength(body))];
      for (const name in options.headers) headers.push(name, options.headers[name] as string);

      let outgoing: ClientRequest;
      const settle = (): boolean => inFlight.delete(fail);
      const done = (response: JSONRPCResponse): void => {
        if (!settle()) return;
        signal.removeEventListener("abort", abort);
        resolve(response);
      };
      const fail = (error: unknown): void => {
        if (!settle()) return;
        signal.removeEventListener("abort", abort);
        reject(error);
        outgoing.destroy();
      };
      const abort = (): void => fail(signal.reason);
      const broken = (cause: Error): void => fail(unreachable(url, cause));

      inFlight.add(fail);
      signal.addEventListener("abort", abort);
      try {
        outgoing = open({ ...target, headers });
      } catch (cause) {
        settle();
        signal.removeEventListener("abort", abort);
        return reject(
          new VolleyError(
            "invalid_options",
            "A header cannot be sent: look for line breaks and other control characters.",
            { cause },
          ),
        );
      }
      outgoing.on("error", broken);
      outgoing.on("response", (incoming) => {
        incoming.on("error", broken);
        let body: Readable;
        try {
          body = decoded(incoming, fail);
        } catch (error) {
          return fail(error);
        }
        if (isEventStream(incoming.headers["content-type"])) {
          readStream(incoming, body, request, options, done, fail);
        } else {
          readText(body, fail, (text) => {
            const header = (name: string): string | undefined => incoming.headers[name]?.toString();
            try {
              done(readReply({ status: incoming.statusCode ?? 0, text, header }, request, address));
            } catch (error) {
              fail(error);
            }
          });
        }
      });
      outgoing.end(body);
    });
  }

  return {
    kind: "http",
    address,
    send: (request, options) =>
      typeof headers === "function"
        ? headers().then((made) => exchange(request, options, made))
        : exchange(request, options, headers),
    async close() {
      closed = true;
      for (const fail of [...inFlight]) fail(closedError());
      agent.destroy();
    },
  };
}

function readText(body: Readable, fail: (error: unknown) => void, whole: (text: string) => void): void {
  let text = "";
  body.setEncoding("utf8");
  body.on("data", (part: string) => {
    text += part;
    if (text.length > MAX_MESSAGE_SIZE) fail(tooLarge());
  });
  body.on("end", () => whole(text));
}

function readStream(
  incoming: IncomingMessage,
  body: Readable,
  request: JSONRPCRequest,
  options: SendOptions,
  done: (response: JSONRPCResponse) => void,
  fail: (error: unknown) => void,
): void {
  incoming.socket.setKeepAlive(true, KEEPALIVE_MS);
  body.setEncoding("utf8");
  const reader = createStreamReader(request.id, {
    onNotification: options.onNotification,
    onResponse(response) {
      done(response);
      // The answer should be the end; a server that leaves the stream open must not hold the connection.
      const linger = setTimeout(() => incoming.destroy(), LINGER_MS);
      linger.unref();
      incoming.once("close", () => clearTimeout(linger));
    },
    onFailure: fail,
  });
  body.on("data", (text: string) => reader.feed(text));
  body.on("end", () => reader.end());
}

function flat(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat();
}

function unreachable(url: URL, cause: Error & { code?: string }): VolleyError {
  const what = cause.code ?? cause.message;
  return new VolleyError(
    "connection_failed",
    `The server at ${url.origin} could not be reached or broke off (${what}).`,
    { cause },
  );
}
