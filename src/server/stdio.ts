import { Buffer, isUtf8 } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import {
  checkOptions,
  ErrorCode,
  isObject,
  isRequestId,
  type OptionNames,
  type RequestId,
  VolleyError,
} from "../protocol/index.ts";
import { ANONYMOUS, type Principal, readPrincipal } from "../state/index.ts";
import { Call, type Reply } from "./call.ts";
import type { Core } from "./core.ts";
import { errorResponse } from "./results.ts";
import { coreOf, type Server } from "./server.ts";

export interface StdioOptions {
  /** Default `process.stdin`. */
  readonly input?: Readable;
  /** Default `process.stdout`; then `console.log` and its like write to stderr as long as the server runs. */
  readonly output?: Writable;
  /** Who is calling: whoever started this process. Default: anonymous. */
  readonly principal?: Principal;
}

const LINE_FEED = 0x0a;
/** How long handlers get to stop once the client is gone. */
const PATIENCE_MS = 2_000;

const OPTIONS: OptionNames<StdioOptions> = { input: true, output: true, principal: true };

/**
 * Serves one client over standard streams, a JSON message a line, requests side by side.
 *
 * Resolves when the input has ended and the handlers that ran then have stopped, or two seconds later. A handler that does
 * not heed `ctx.signal` may keep the process alive longer.
 *
 * @throws VolleyError `invalid_options` for a `principal` that is none
 * @example
 * ```ts
 * await serveStdio(server);
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export async function serveStdio(server: Server, options: StdioOptions = {}): Promise<void> {
  checkOptions("serveStdio", options, OPTIONS);
  const core = coreOf(server);
  const principal = readPrincipal(options.principal ?? ANONYMOUS, "principal");
  core.serving = true;
  const input = options.input ?? process.stdin;
  const output = options.output ?? process.stdout;
  const restore = output === process.stdout ? keepStdoutClean() : undefined;
  const connection = new Connection(core, output, principal);
  const broken = new Promise<void>((resolve) => {
    output.once("error", () => resolve());
    output.once("close", () => resolve());
  });
  try {
    await Promise.race([readLines(input, core.settings.limits.bodyBytes, connection), broken]);
  } finally {
    await connection.end();
    restore?.();
  }
}

/** One client's requests by id, so that it can cancel them. */
class Connection {
  readonly #core: Core;
  readonly #output: Writable;
  readonly #principal: Principal;
  readonly #calls = new Map<RequestId, StdioCall>();
  readonly #running = new Set<Promise<void>>();

  constructor(core: Core, output: Writable, principal: Principal) {
    this.#core = core;
    this.#output = output;
    this.#principal = principal;
    output.on("drain", () => {
      for (const call of this.#calls.values()) call.resume();
    });
  }

  /** False when the reader is slow. */
  write(message: string): boolean {
    return !this.#output.writable || this.#output.write(`${message}\n`);
  }

  refuse(code: number, message: string): void {
    this.write(errorResponse(undefined, code, message));
  }

  receive(line: Buffer): void {
    let message: unknown;
    try {
      if (!isUtf8(line)) throw new TypeError();
      message = JSON.parse(line.toString());
    } catch {
      this.refuse(ErrorCode.ParseError, "The line is not JSON.");
      return;
    }
    const id = isObject(message) && isRequestId(message.id) ? message.id : undefined;
    if (id === undefined) {
      if (isObject(message) && message.method === "notifications/cancelled") {
        this.#cancel(message.params);
        return;
      }
    } else if (this.#calls.has(id)) {
      this.write(errorResponse(id, ErrorCode.InvalidRequest, "A request with this id is running."));
      return;
    }
    const call = new StdioCall(this);
    call.principal = this.#principal;
    if (id !== undefined) this.#calls.set(id, call);
    const reply = this.#core.handle(message, call);
    if (!(reply instanceof Promise)) {
      this.#finish(id, call, reply);
      return;
    }
    const running = reply
      .catch((error: unknown) => this.#core.fail(error, id, 500))
      .then((settled) => this.#finish(id, call, settled))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  #finish(id: RequestId | undefined, call: StdioCall, reply: Reply): void {
    if (id !== undefined && this.#calls.get(id) === call) this.#calls.delete(id);
    if (call.done) return;
    call.done = true;
    if (reply.body !== undefined) this.write(reply.body);
  }

  // A malformed cancellation, or one for a request that is not running, is ignored.
  #cancel(params: unknown): void {
    const id = isObject(params) ? params.requestId : undefined;
    if (!isRequestId(id)) return;
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    call?.drop(new VolleyError("aborted", "The client cancelled the request."));
  }

  /** The client is gone: stops what runs and waits for it. */
  async end(): Promise<void> {
    const reason = new VolleyError("closed", "The client closed its pipe.");
    for (const call of this.#calls.values()) call.drop(reason);
    this.#calls.clear();
    const patience = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref());
    await Promise.race([Promise.allSettled(this.#running), patience]);
  }
}

class StdioCall extends Call {
  readonly headers = undefined;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    super();
    this.#connection = connection;
  }

  protected write(message: string): boolean {
    return this.#connection.write(message);
  }

  // The connection knows its calls and drops them itself.
  protected watch(): void {}

  resume(): void {
    this.drained();
  }
}

/** Cuts the input into lines; one longer than the limit is refused and skipped. */
async function readLines(input: Readable, limit: number, connection: Connection): Promise<void> {
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer): void => {
    size += part.length;
    if (size <= limit) parts.push(part);
  };
  const finish = (): void => {
    if (size > limit) connection.refuse(ErrorCode.InvalidRequest, `The line is longer than ${limit} bytes.`);
    else if (size > 0) {
      const line = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, size);
      if (!isBlank(line)) connection.receive(line);
    }
    parts = [];
    size = 0;
  };
  for await (const chunk of input) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Buffer);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      add(bytes.subarray(start, end));
      finish();
      start = end + 1;
    }
    add(bytes.subarray(start));
  }
  finish();
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}

/** Standard output belongs to the protocol: what authors print goes to standard error. */
function keepStdoutClean(): () => void {
  const { log, info, debug } = console;
  console.log = console.info = console.debug = (...args: unknown[]) => console.error(...args);
  return () => Object.assign(console, { log, info, debug });
}
