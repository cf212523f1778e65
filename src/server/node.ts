import { AsyncResource } from "node:async_hooks";
import { Buffer, isUtf8 } from "node:buffer";
import { type IncomingMessage, maxHeaderSize, type ServerResponse } from "node:http";
import { ErrorCode, VolleyError } from "../protocol/index.ts";
import type { Principal } from "../state/index.ts";
import { type Burst, createBurst } from "./burst.ts";
import { Call, type Reply } from "./call.ts";
import { createHttp, type Http, KEEP_ALIVE, KEEP_ALIVE_MS, PATIENCE, STREAM_HEADERS, toEvent } from "./http.ts";
import type { Head, HttpAnswer } from "./http-checks.ts";
import type { HeaderReader } from "./options.ts";
import { errorResponse } from "./results.ts";
import { coreOf, type Server } from "./server.ts";
import { every } from "./timers.ts";

/**
 * Handles a request of node:http or of a framework on top of it.
 *
 * The third argument is the body where a framework has parsed it already (Fastify); Express's `next` is ignored.
 */
export type NodeHandler = (req: IncomingMessage, res: ServerResponse, parsed?: unknown) => void;

/**
 * Serves over node:http, Express, Fastify or any framework that hands out Node's request and response.
 *
 * Mount it on one path; it answers every method there.
 *
 * @throws VolleyError `keys_missing`, `invalid_options` for a set-up that would not be safe over HTTP
 * @example
 * ```ts
 * import { createServer as createHttpServer } from "node:http";
 * createHttpServer(nodeHandler(server)).listen(3000, "127.0.0.1");
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export function nodeHandler(server: Server): NodeHandler {
  const http = createHttp(coreOf(server));
  const burst = createBurst();
  return (req, res, parsed) => new NodeCall(http, burst, req, res).start(parsed);
}

/** How long a refused body may go on arriving, so that its sender gets to read the refusal. */
const LINGER_MS = 2_000;

class NodeCall extends Call implements Head {
  readonly #http: Http;
  readonly #burst: Burst;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  /** What a framework's middleware put around the request; Node ends a body outside of it. */
  readonly #scope = new AsyncResource("volley.request");
  #streaming = false;
  #endKeepAlive: (() => void) | undefined;
  #unread = 0;

  constructor(http: Http, burst: Burst, req: IncomingMessage, res: ServerResponse) {
    super();
    this.#http = http;
    this.#burst = burst;
    this.#req = req;
    this.#res = res;
  }

  get headers(): HeaderReader {
    return this;
  }

  header(name: string): string | null {
    const value = this.#req.headers[name];
    return typeof value === "string" ? value : null;
  }

  get method(): string | undefined {
    return this.#req.method;
  }

  headerBytes(): number {
    if (this.#http.core.settings.limits.headerBytes >= maxHeaderSize) return 0;
    let size = 0;
    for (const part of this.#req.rawHeaders) size += part.length;
    return size;
  }

  start(parsed: unknown): void {
    const answer = this.#http.judge(this);
    if (answer) {
      this.#answer(answer);
      return;
    }
    const principal = this.#http.identify(this);
    if (principal instanceof Promise) {
      principal.then((found) => this.#identified(found, parsed)).catch((error: unknown) => this.#fault(error));
    } else {
      this.#identified(principal, parsed);
    }
  }

  #identified(principal: Principal | undefined, parsed: unknown): void {
    if (!principal) {
      this.#answer(this.#http.unauthorized);
      return;
    }
    this.principal = principal;
    const body = typeof parsed === "function" || parsed === undefined ? (this.#req as { body?: unknown }).body : parsed;
    if (body !== undefined && this.#req.readableDidRead) this.#finish(this.#http.core.handle(body, this));
    else this.#read();
  }

  #read(): void {
    const req = this.#req;
    const { bodyBytes, bodyTimeoutMs } = this.#http.core.settings.limits;
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => stop(this.#http.tooSlow), bodyTimeoutMs);
    const stop = (answer: HttpAnswer): void => {
      clearTimeout(timer);
      req.removeListener("data", take);
      req.removeListener("end", end);
      this.#scope.runInAsyncScope(() => this.#answer(answer));
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > bodyBytes) stop(this.#http.tooLarge);
      else chunks.push(chunk);
    };
    const end = (): void => {
      clearTimeout(timer);
      const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size);
      if (!isUtf8(body)) {
        const message = "The body is not UTF-8.";
        this.#reply({ status: 400, body: errorResponse(undefined, ErrorCode.ParseError, message) });
      } else {
        this.#scope.runInAsyncScope(() => this.#finish(this.#http.core.receive(body.toString(), this)));
      }
    };
    req.on("data", take);
    req.on("end", end);
    req.on("close", () => clearTimeout(timer));
  }

  #finish(reply: Reply | Promise<Reply>): void {
    if (reply instanceof Promise)
      reply.then((settled) => this.#reply(settled)).catch((error: unknown) => this.#fault(error));
    else this.#reply(reply);
  }

  #fault(error: unknown): void {
    this.#reply(this.#http.core.fail(error, undefined, 500));
  }

  override get gone(): boolean {
    return this.done || this.#res.destroyed;
  }

  protected watch(): void {
    this.#res.once("close", () => {
      this.#stop();
      this.drop(new VolleyError("aborted", "The client closed the response stream."));
    });
  }

  protected write(message: string): boolean {
    const res = this.#res;
    if (res.destroyed) return true;
    if (!this.#streaming) {
      this.#streaming = true;
      res.writeHead(200, [...STREAM_HEADERS, ...this.#http.cors(this)]);
      res.on("drain", () => this.drained());
      res.once("close", () => this.#stop());
      this.#endKeepAlive = every(KEEP_ALIVE_MS, () => this.#tick());
    }
    const room = res.write(toEvent(message));
    // Compression middleware holds back what it is not told to send.
    (res as { flush?: () => void }).flush?.();
    return room;
  }

  #tick(): void {
    if (!this.blocked) {
      this.#unread = 0;
      this.#res.write(KEEP_ALIVE);
    } else if (++this.#unread >= PATIENCE) {
      this.#res.destroy();
    }
  }

  #stop(): void {
    this.#endKeepAlive?.();
  }

  #reply(reply: Reply): void {
    if (this.done) return;
    this.done = true;
    this.#stop();
    if (this.#res.destroyed) return;
    if (this.#streaming) this.#res.end(toEvent(reply.body as string));
    else this.#burst(this.#scope, () => this.#send(reply.status, this.#http.headersOf(reply), reply.body));
  }

  #answer(answer: HttpAnswer): void {
    if (this.done) return;
    this.done = true;
    const headers =
      answer.body === undefined ? answer.headers : [...answer.headers, "Content-Type", "application/json"];
    this.#send(answer.status, headers, answer.body);
    // Node reads on to the end of the body to keep the connection; one that goes on for long is not worth it.
    const req = this.#req;
    if (req.complete) return;
    const timer = setTimeout(() => req.destroy(), LINGER_MS).unref();
    req.once("close", () => clearTimeout(timer));
  }

  #send(status: number, headers: readonly string[], body: string | undefined): void {
    const res = this.#res;
    // The connection has gone, or a framework's own timeout has answered.
    if (res.destroyed || res.headersSent) return;
    const all = [...headers];
    if (body !== undefined) all.push("Content-Length", String(Buffer.byteLength(body)));
    if (this.header("origin") !== null) all.push(...this.#http.cors(this));
    res.writeHead(status, all);
    res.end(body);
  }
}
