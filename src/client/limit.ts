// How long one request may take.
import { VolleyError } from "../protocol/index.ts";

/** A running limit of time. */
export interface Limit {
  /** Starts the wait anew, as far as the ceiling allows. */
  restart(): void;
  stop(): void;
}

/** Timers of more milliseconds fire at once: longer limits are none. */
const MAX_TIMER_MS = 2_147_483_647;

/**
 * Calls `onTimeout` after `timeoutMs` without a {@link Limit.restart}, and after `ceilingMs` at the latest if there were
 * some.
 */
export function startLimit(
  method: string,
  timeoutMs: number,
  ceilingMs: number,
  onTimeout: (error: VolleyError) => void,
): Limit {
  const startedAt = performance.now();
  const start = (ms: number, error: () => VolleyError): ReturnType<typeof setTimeout> | undefined =>
    ms <= MAX_TIMER_MS ? setTimeout(() => onTimeout(error()), ms) : undefined;
  let timer = start(timeoutMs, () => silent(method, timeoutMs));
  let isOver = false;
  return {
    restart() {
      if (isOver) return;
      clearTimeout(timer);
      const leftMs = Math.max(0, Math.max(timeoutMs, ceilingMs) - (performance.now() - startedAt));
      timer =
        timeoutMs <= leftMs
          ? start(timeoutMs, () => silent(method, timeoutMs))
          : start(leftMs, () => endless(method, ceilingMs));
    },
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

function silent(method: string, ms: number): VolleyError {
  return new VolleyError(
    "timeout",
    `The server did not answer ${method} within ${ms} ms: raise timeoutMs if it needs longer.`,
  );
}

function endless(method: string, ms: number): VolleyError {
  return new VolleyError(
    "timeout",
    `The server told of progress, but did not answer ${method} within ${ms} ms: raise maxTotalTimeoutMs if it needs longer.`,
  );
}
