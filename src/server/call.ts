import type { Exchange } from "../flow/index.ts";
import { ANONYMOUS, type Principal } from "../state/index.ts";
import type { HeaderReader } from "./options.ts";

/** The answer to one message; without a body where none is owed. */
export interface Reply {
  readonly status: number;
  readonly body: string | undefined;
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number;
}

/**
 * One request at a transport, as the core sees it. Transports subclass it; the base holds what they share:
 * who calls, the abort, and that nothing is written after the reply.
 */
export abstract class Call implements Exchange {
  principal: Principal = ANONYMOUS;
  /** The reply is out, or nobody wants it any more. */
  done = false;
  /** The reader is slow; what may be dropped is dropped until it has caught up. */
  blocked = false;
  /** Called when a slow reader has caught up. */
  ondrain: (() => void) | undefined;
  /** It is among the calls that run, between these neighbours. */
  running = false;
  previous: Call | undefined;
  next: Call | undefined;
  #listeners: ((reason: Error) => void)[] | undefined;
  #reason: Error | undefined;

  /** The request's headers; undefined on transports that have none. */
  abstract readonly headers: HeaderReader | undefined;

  /** Writes one message on the request's own stream; false when its reader is slow. */
  protected abstract write(message: string): boolean;

  /** Whether the client has gone, so far as that can be seen without watching. */
  get gone(): boolean {
    return this.done;
  }

  /** Begins to watch for the client's going away. */
  protected abstract watch(): void;

  send(message: string): void {
    if (!this.done && !this.write(message)) this.blocked = true;
  }

  notify(method: string, params: Record<string, unknown>): void {
    // Progress and log messages may be dropped, so a slow reader costs no memory.
    if (this.done || this.blocked) return;
    this.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  onAbort(listener: (reason: Error) => void): void {
    if (this.#reason) listener(this.#reason);
    else if (this.done) return;
    else if (this.#listeners) this.#listeners.push(listener);
    else {
      this.#listeners = [listener];
      this.watch();
    }
  }

  /** Tells the handler to stop; its reply is still sent. */
  abort(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners) for (const listener of listeners) listener(reason);
  }

  /** Nobody waits for this request any more: tells the handler, and writes nothing from here on. */
  drop(reason: Error): void {
    if (this.done) return;
    this.done = true;
    this.abort(reason);
  }

  protected drained(): void {
    this.blocked = false;
    this.ondrain?.();
  }
}
