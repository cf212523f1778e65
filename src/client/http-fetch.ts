// HTTP on every runtime that has fetch.
import { type JSONRPCRequest, type JSONRPCResponse, RpcError, VolleyError } from "../protocol/index.ts";
import { closedError } from "./errors.ts";
import { callerHeaders, FIXED_HEADERS, type HeaderSource, isEventStream, readReply } from "./http.ts";
import { MAX_MESSAGE_SIZE, tooLarge } from "./messages.ts";
import { createStreamReader } from "./sse.ts";
import type { SendOptions, Transport } from "./transport.ts";

/** A function with the signature of the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** How long a stream may stay open after its answer before it is given up. */
const LINGER_MS = 1_000;

/** Connects to an MCP endpoint by fetch. */
export function createFetchTransport(url: URL, source: HeaderSource, fetch: Fetch): Transport {
  const address = url.origin + url.pathname;
  const prepared = typeof source === "function" ? undefined : callerHeaders(source);
  const inFlight = new Set<AbortController>();
  let closed = false;

  async function exchange(
    request: JSONRPCRequest,
    options: SendOptions,
    controller: AbortController,
  ): Promise<JSONRPCResponse> {
    const caller = prepared ?? callerHeaders(await (source as () => Promise<Record<string, string>>)());
    const response = await fetch(url.href, {
      method: "POST",
      headers: { ...FIXED_HEADERS, ...caller, ...options.headers },
      body: JSON.stringify(request),
      // Credentials of this origin are not for another one.
      redirect: "manual",
      signal: controller.signal,
    });
    if (isEventStream(response.headers.get("content-type") ?? undefined))
      return readStream(response, request, options, controller);
    const text = await readText(response);
    return readReply(
      { status: response.status, text, header: (name) => response.headers.get(name) ?? undefined },
      request,
      address,
    );
  }

  return {
    kind: "http",
    address,
    async send(request, options) {
      if (closed) throw closedError();
      options.signal.throwIfAborted();
      const controller = new AbortController();
      const abort = (): void => controller.abort(options.signal.reason);
      options.signal.addEventListener("abort", abort);
      inFlight.add(controller);
      try {
        return await exchange(request, options, controller);
      } catch (error) {
        if (controller.signal.aborted) throw controller.signal.reason;
        if (VolleyError.is(error) || RpcError.is(error)) throw error;
        throw new VolleyError(
          "connection_failed",
          `The server at ${url.origin} could not be reached or broke off (${(error as Error).message}).`,
          { cause: error },
        );
      } finally {
        inFlight.delete(controller);
        options.signal.removeEventListener("abort", abort);
      }
    },
    async close() {
      closed = true;
      for (const controller of inFlight) controller.abort(closedError());
    },
  };
}

async function readText(response: Response): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > MAX_MESSAGE_SIZE) {
      void reader.cancel().catch(() => {});
      throw tooLarge();
    }
  }
}

function readStream(
  response: Response,
  request: JSONRPCRequest,
  options: SendOptions,
  controller: AbortController,
): Promise<JSONRPCResponse> {
  return new Promise((resolve, reject) => {
    const reader = createStreamReader(request.id, {
      onNotification: options.onNotification,
      onResponse(answer) {
        resolve(answer);
        // The answer should be the end; a server that leaves the stream open must not hold the connection.
        linger = setTimeout(() => controller.abort(), LINGER_MS);
      },
      onFailure: reject,
    });
    let linger: ReturnType<typeof setTimeout> | undefined;
    pump(response, reader.feed)
      .then(() => reader.end(), reject)
      .finally(() => clearTimeout(linger));
  });
}

async function pump(response: Response, feed: (text: string) => void): Promise<void> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    feed(decoder.decode(value, { stream: true }));
  }
}
