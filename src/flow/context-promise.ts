import { VolleyError } from "../protocol/index.ts";
import type { FlowDefinition } from "./types.ts";

/**
 * The promise that context calls hand out: it knows whether anybody looked at it.
 *
 * `await` on a subclass goes through `then`, so a call that nobody awaited can be named when the handler returns. Its
 * rejection is always handled inside: a step that fails beside an open ask must not become an unhandled rejection.
 */
export class ContextPromise<T> extends Promise<T> {
  awaited = false;

  // Derived promises are plain ones: only what the context handed out is watched.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.awaited = true;
    return super.then(onFulfilled, onRejected);
  }
}

/** A {@link ContextPromise} with its two ends. */
export interface Deferred<T> {
  readonly promise: ContextPromise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

export function defer<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new ContextPromise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  Promise.prototype.then.call(promise, undefined, ignore);
  return { promise, resolve, reject };
}

export function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** A promise for calls on a closed run: it never settles. */
export function never<T>(): ContextPromise<T> {
  return defer<T>().promise;
}

/** A promise that has failed already; nobody has to look at it. */
export function rejected<T>(error: unknown): ContextPromise<T> {
  const ends = defer<T>();
  ends.reject(error);
  return ends.promise;
}

/** A promise that is settled already. */
export function settled<T>(value: T): ContextPromise<T> {
  return new ContextPromise<T>((resolve) => resolve(value));
}

/** The error of a handler that returned while a call of it was not looked at. */
export function notAwaited({ kind, name }: FlowDefinition, call: string): VolleyError {
  return new VolleyError(
    "context_misused",
    `The handler of ${kind} "${name}" returned without awaiting "${call}". Put \`await\` before the call.`,
  );
}

function ignore(): void {}
