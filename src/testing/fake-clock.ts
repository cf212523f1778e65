import type { Clock } from "../flow/index.ts";

/** A {@link Clock} that stands still until it is told to go on. */
export interface FakeClock extends Clock {
  /** Lets `ms` pass: timers run in their order, and each gets the microtasks and the turn that it caused. */
  advance(ms: number): Promise<void>;
}

/**
 * Makes a clock for tests, which stands at `start` (milliseconds since the epoch).
 *
 * @example
 * ```ts
 * import { createFakeClock } from "volley-mcp/testing";
 * const clock = createFakeClock(Date.UTC(2026, 6, 28));
 * const server = createServer({ name: "tracker", version: "1.0.0", clock });
 * await clock.advance(11 * 60_000); // a state of ten minutes is over
 * ```
 */
export function createFakeClock(start: number = Date.UTC(2026, 6, 28)): FakeClock {
  let time = start;
  const timers = new Set<{ readonly at: number; readonly task: () => void }>();
  const nextDue = (until: number): { readonly at: number; readonly task: () => void } | undefined =>
    [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => time,
    after(ms, task) {
      const timer = { at: time + ms, task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const until = time + ms;
      for (;;) {
        await turn();
        const due = nextDue(until);
        if (due === undefined) break;
        timers.delete(due);
        time = Math.max(time, due.at);
        due.task();
      }
      time = until;
      await turn();
    },
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
