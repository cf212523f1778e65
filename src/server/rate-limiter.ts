/** How much of something one caller may have in a while. */
export interface Quota {
  /** What is counted; each is counted for itself. */
  readonly name: string;
  /** How many in one window. */
  readonly points: number;
  /** In milliseconds. */
  readonly windowMs: number;
}

/** Counts what callers take. */
export interface RateLimiter {
  /**
   * Takes one from the quota of the caller that `key` names.
   *
   * @returns 0 when it was granted, else how long to wait for the next, in milliseconds
   */
  take(quota: Quota, key: string): number | Promise<number>;
  close?(): Promise<void>;
}

/** Callers counted at the same time; beyond them the one seen first is forgotten. */
const CALLERS = 10_000;

interface Window {
  start: number;
  count: number;
}

/** A {@link RateLimiter} in the memory of this process. */
export function createMemoryRateLimiter(now: () => number): RateLimiter {
  const counted = new Map<string, Map<string, Window>>();

  const windowOf = (name: string, key: string): Window => {
    let windows = counted.get(name);
    if (!windows) {
      windows = new Map();
      counted.set(name, windows);
    }
    let window = windows.get(key);
    if (!window) {
      if (windows.size >= CALLERS) windows.delete(windows.keys().next().value as string);
      window = { start: now(), count: 0 };
      windows.set(key, window);
    }
    return window;
  };

  return {
    take({ name, points, windowMs }, key) {
      const window = windowOf(name, key);
      const time = now();
      if (time - window.start >= windowMs || time < window.start) {
        window.start = time;
        window.count = 0;
      }
      return ++window.count > points ? window.start + windowMs - time : 0;
    },
  };
}
