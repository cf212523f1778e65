import type { Clock } from "./types.ts";

/** The machine's time. Its timers keep no process alive: only the request that waits for one does. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    if (typeof timer === "object") timer.unref();
    return () => clearTimeout(timer);
  },
};
