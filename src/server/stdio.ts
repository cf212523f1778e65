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
import { keepStdoutClean } from "./quiet-stdout.ts";
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
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** How long what was received may take to be answered after the end of the input. */
const ANSWER_MS = 1_500;
/** How long handlers get to stop after that. Together less than hosts wait before they kill. */
const STOP_MS = 500;
const ENDED = "The client has ended its input.";

const OPTIONS: OptionNames<StdioOptions> = { input: true, output: true, principal: true };

/**
 * Serves one client over standard streams, a JSON message a line, requests side by side.
 *
 * When the input ends, what was received is still answered, as far as it takes no longer than a second and a half; then
 * `ctx.signal` tells handlers to stop, and half a second later this resolves whether they have or not. When the output breaks
 * they are told at once, and nothing more is read. A handler that does not heed `ctx.signal` may keep the process alive.
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
  const breakOff = (): void => {
    connection.breakOff();
    input.destroy();
  };
  // For good: every write to a broken pipe is an error of its own.
  output.on("error", breakOff);
  output.once("close", breakOff);
  try {
    await readLines(input, core.settings.limits.bodyBytes, connection);
  } catch (error) {
    if (!connection.broken) throw error;
  } finally {
    await connection.end();
    output.off("close", breakOff);
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
  /** The output broke: nobody hears an answer. */
  broken = false;

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
    return this.broken || !this.#output.writable || this.#output.write(`${message}\n`);
  }

  refuse(code: number, message: string): void {
    this.write(errorResponse(undefined, code, message));
  }

  receive(line: Buffer): void {
    if (this.broken) return;
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
    call.isStream = isObject(message) && message.method === "subscriptions/listen";
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

  breakOff(): void {
    this.broken = true;
    this.#drop("The client closed its pipe.");
  }

  /** No more will be received: answers what was, as long as there is patience, then stops the rest. */
  async end(): Promise<void> {
    for (const [id, call] of this.#calls) if (call.isStream) this.#stop(id, call, ENDED);
    await within(ANSWER_MS, Promise.all(this.#running));
    this.#drop(ENDED);
    await within(STOP_MS, Promise.all([...this.#running, this.#flushed()]));
  }

  #drop(reason: string): void {
    for (const [id, call] of this.#calls) this.#stop(id, call, reason);
  }

  #stop(id: RequestId, call: StdioCall, reason: string): void {
    this.#calls.delete(id);
    call.drop(new VolleyError("closed", reason));
  }

  #flushed(): Promise<void> | undefined {
    if (this.broken || !this.#output.writable || this.#output.writableLength === 0) return undefined;
    return new Promise((resolve) => this.#output.write("", () => resolve()));
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, patience]);
  clearTimeout(timer);
}

class StdioCall extends Call {
  readonly headers = undefined;
  /** Has no end of its own. */
  isStream = false;
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
      const text = line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line;
      if (!isBlank(text)) connection.receive(text);
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
