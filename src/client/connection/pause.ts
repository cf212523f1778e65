// Waiting that ends early when nobody waits any more.
import { abortedError, closedError } from "../transports/errors.ts";
import { onAbort } from "./signals.ts";

/** Resolves after `ms`; rejects at once when the caller gives up or the client closes. */
export function sleep(ms: number, signal: AbortSignal | undefined, closing: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return untilEnded(slept, signal, closing).finally(() => clearTimeout(timer));
}

/** Settles as `work` does; rejects at once when the caller gives up or the client closes. */
export function untilEnded<T>(work: Promise<T>, signal: AbortSignal | undefined, closing: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(abortedError(signal as AbortSignal));
    const close = (): void => reject(closedError());
    if (signal?.aborted || closing.aborted) {
      // Nobody hears any more how it ends, which must not become an unhandled rejection.
      work.catch(() => undefined);
      return signal?.aborted ? abort() : close();
    }
    const ignore = [signal === undefined ? undefined : onAbort(signal, abort), onAbort(closing, close)];
    work.then(resolve, reject).finally(() => {
      for (const stop of ignore) stop?.();
    });
  });
}

/** The pace of tries to reach a server again: 500 ms doubling to 30 s, each time between half of that and all of it. */
export function reconnectPace(attempt: number): number {
  return Math.min(30_000, 500 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}

/**
 * The default pace of retries: the first at once, then after 50 ms, doubling up to 2 s, each time between half of that
 * and all of it, so that many clients do not come back in step.
 */
export function defaultPace(attempt: number): number {
  if (attempt <= 1) return 0;
  return Math.min(2_000, 50 * 2 ** (attempt - 2)) * (0.5 + Math.random() / 2);
}
