import type { Clock, Exchange } from "./types.ts";

/** When a run must be over, and the signal that tells its handler so. */
export class Limit {
  /** In milliseconds since the epoch. */
  endsAt: number = Number.POSITIVE_INFINITY;
  readonly #exchange: Exchange;
  #cancel: (() => void) | undefined;
  #controller: AbortController | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  begin(clock: Clock, ms: number, over: () => void): void {
    this.endsAt = clock.now() + ms;
    this.#cancel = clock.after(ms, over);
  }

  end(): void {
    this.#cancel?.();
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      this.#exchange.onAbort((reason) => controller.abort(reason));
    }
    return this.#controller.signal;
  }

  /** Tells the handler to stop, if it has asked to be told. */
  abort(reason: Error): void {
    this.#controller?.abort(reason);
  }
}
