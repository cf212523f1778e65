import { ErrorCode, VolleyError } from "../protocol/index.ts";
import { Call, type Reply } from "./call.ts";
import { type Http, KEEP_ALIVE, KEEP_ALIVE_MS, PATIENCE, STREAM_HEADERS, toEvent } from "./http.ts";
import type { Head, HttpAnswer } from "./http-checks.ts";
import type { HeaderReader } from "./options.ts";
import { errorResponse } from "./results.ts";
import { every } from "./timers.ts";

/** Bytes that a reader may leave unread before it counts as slow. */
const ROOM = 64 * 1024;

const encoder = new TextEncoder();

/** Serves the requests of any runtime that has the fetch API. */
export function createFetch(http: Http): (request: Request) => Promise<Response> {
  const { limits } = http.core.settings;

  return async (request) => {
    const reader: Head = {
      method: request.method,
      header: (name) => request.headers.get(name),
      hostOfUrl: () => new URL(request.url).host,
      headerBytes: () => sizeOf(request.headers),
    };
    const answered = (answer: HttpAnswer): Response => {
      const type = answer.body === undefined ? [] : ["Content-Type", "application/json"];
      return respond(answer.status, [...answer.headers, ...type, ...http.cors(reader)], answer.body);
    };
    const refused = http.judge(reader);
    if (refused) return answered(refused);
    const principal = await http.identify(reader);
    if (!principal) return answered(http.unauthorized);
    const body = await readBody(request, limits.bodyBytes, limits.bodyTimeoutMs);
    if (body === "too_large") return answered(http.tooLarge);
    if (body === "too_slow") return answered(http.tooSlow);

    const call = new FetchCall(http, request, reader);
    call.principal = principal;
    if (body === undefined) {
      const message = "The body is not UTF-8.";
      return call.respond({ status: 400, body: errorResponse(undefined, ErrorCode.ParseError, message) });
    }
    const reply = http.core.receive(body.text, call);
    if (!(reply instanceof Promise)) return call.respond(reply);
    return call.serve(reply);
  };
}

function respond(status: number, pairs: readonly string[], body: string | ReadableStream | undefined): Response {
  const headers: [string, string][] = [];
  for (let i = 0; i < pairs.length; i += 2) headers.push([pairs[i] as string, pairs[i + 1] as string]);
  return new Response(body ?? null, { status, headers });
}

function sizeOf(headers: Headers): number {
  let size = 0;
  headers.forEach((value, name) => {
    size += name.length + value.length;
  });
  return size;
}

/** The body's text within its limits; undefined when it is not UTF-8. */
async function readBody(
  request: Request,
  limit: number,
  timeoutMs: number,
): Promise<{ readonly text: string } | "too_large" | "too_slow" | undefined> {
  if (!request.body) return { text: "" };
  const reader = request.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    // Ends the read below; what was still to come is nobody's.
    reader.cancel().catch(() => undefined);
  }, timeoutMs);
  let size = 0;
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (late) return "too_slow";
      if (done) return { text: text + decoder.decode() };
      size += value.byteLength;
      if (size > limit) {
        reader.cancel().catch(() => undefined);
        return "too_large";
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return late ? "too_slow" : undefined;
  } finally {
    clearTimeout(timer);
  }
}

class FetchCall extends Call {
  readonly headers: HeaderReader;
  readonly #http: Http;
  readonly #signal: AbortSignal;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #response: Response | undefined;
  #begin: ((response: Response) => void) | undefined;
  #endKeepAlive: (() => void) | undefined;
  #unread = 0;

  constructor(http: Http, request: Request, headers: HeaderReader) {
    super();
    this.#http = http;
    this.#signal = request.signal;
    this.headers = headers;
  }

  /** Answers with JSON, or with a stream as soon as something is sent before the reply. */
  serve(reply: Promise<Reply>): Promise<Response> {
    reply
      .catch((error: unknown) => this.#http.core.fail(error, undefined, 500))
      .then((settled) => this.#settle(settled))
      .catch((error: unknown) => this.#http.core.fail(error, undefined, 500));
    // A subscription has sent its acknowledgement by now.
    if (this.#response) return Promise.resolve(this.#response);
    return new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  respond(reply: Reply): Response {
    this.done = true;
    return respond(reply.status, [...this.#http.headersOf(reply), ...this.#http.cors(this.headers)], reply.body);
  }

  #settle(reply: Reply): void {
    this.#endKeepAlive?.();
    if (!this.#stream) {
      this.#begin?.(this.respond(reply));
    } else if (!this.done) {
      this.done = true;
      this.#stream.enqueue(encoder.encode(toEvent(reply.body as string)));
      this.#stream.close();
    }
  }

  override get gone(): boolean {
    return this.done || this.#signal.aborted;
  }

  protected watch(): void {
    if (this.#signal.aborted) queueMicrotask(() => this.#gone());
    else this.#signal.addEventListener("abort", () => this.#gone(), { once: true });
  }

  #gone(): void {
    this.#endKeepAlive?.();
    this.drop(new VolleyError("aborted", "The client closed the response stream."));
  }

  protected write(message: string): boolean {
    const stream = this.#stream ?? this.#open();
    stream.enqueue(encoder.encode(toEvent(message)));
    return (stream.desiredSize ?? 0) > 0;
  }

  #open(): ReadableStreamDefaultController<Uint8Array> {
    let opened!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          opened = controller;
        },
        pull: () => this.drained(),
        cancel: () => this.#gone(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: ROOM }),
    );
    this.#stream = opened;
    this.#response = respond(200, [...STREAM_HEADERS, ...this.#http.cors(this.headers)], body);
    this.#begin?.(this.#response);
    this.#endKeepAlive = every(KEEP_ALIVE_MS, () => this.#tick(opened));
    return opened;
  }

  #tick(stream: ReadableStreamDefaultController<Uint8Array>): void {
    if (!this.blocked) {
      this.#unread = 0;
      stream.enqueue(encoder.encode(KEEP_ALIVE));
    } else if (++this.#unread >= PATIENCE) {
      stream.error(new VolleyError("timeout", "The client does not read its stream."));
      this.#gone();
    }
  }
}
