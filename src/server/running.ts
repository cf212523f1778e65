import type { Call } from "./call.ts";

/**
 * The calls whose handlers run.
 *
 * A linked list and no Set: a Set outgrows its table every few dozen entries, and the old tables, once promoted, keep
 * the calls that were in them alive until the next full collection. Under load that is most of them.
 */
export class RunningCalls {
  size = 0;
  #first: Call | undefined;

  add(call: Call): void {
    call.running = true;
    call.next = this.#first;
    if (this.#first !== undefined) this.#first.previous = call;
    this.#first = call;
    this.size++;
  }

  delete(call: Call): void {
    if (!call.running) return;
    call.running = false;
    if (call.previous === undefined) this.#first = call.next;
    else call.previous.next = call.next;
    if (call.next !== undefined) call.next.previous = call.previous;
    call.previous = undefined;
    call.next = undefined;
    this.size--;
  }

  /** Gives up the places of those whose clients have gone: nobody waits for what their handlers still do. */
  dropGone(): void {
    for (let call = this.#first; call !== undefined; ) {
      const { next } = call;
      if (call.gone) this.delete(call);
      call = next;
    }
  }

  abort(reason: Error): void {
    for (let call = this.#first; call !== undefined; call = call.next) call.abort(reason);
  }
}
