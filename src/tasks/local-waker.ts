import type { TaskWaker } from "./engine.ts";

/** Later than this no timer is set: sweeps find the task. */
const LONGEST_TIMER_MS = 60 * 60_000;

/** A {@link TaskWaker} within this process; what it cannot reach is left to the sweeps of other processes' workers. */
export function createLocalWaker(): TaskWaker & { close(): void } {
  const queue = new Set<string>();
  const running = new Set<string>();
  const again = new Set<string>();
  const timers = new Map<string, { readonly at: number; readonly timer: ReturnType<typeof setTimeout> }>();
  let worker: { readonly run: (id: string) => Promise<void>; readonly concurrency: number } | undefined;

  const pump = (): void => {
    if (worker === undefined) return;
    for (const id of queue) {
      if (running.size >= worker.concurrency) return;
      queue.delete(id);
      running.add(id);
      void worker.run(id).finally(() => {
        running.delete(id);
        if (again.delete(id)) queue.add(id);
        pump();
      });
    }
  };
  const enqueue = (id: string): void => {
    if (running.has(id)) again.add(id);
    else queue.add(id);
    pump();
  };

  return {
    async wake(id, at = 0) {
      if (worker === undefined) return;
      const left = at - Date.now();
      if (left <= 0) enqueue(id);
      else if (left <= LONGEST_TIMER_MS && !((timers.get(id)?.at ?? Number.POSITIVE_INFINITY) <= at)) {
        clearTimeout(timers.get(id)?.timer);
        const timer = setTimeout(() => {
          timers.delete(id);
          enqueue(id);
        }, left);
        timer.unref();
        timers.set(id, { at, timer });
      }
    },
    async work(run, { concurrency }) {
      if (worker !== undefined) throw new Error("One process runs one worker of an engine that wakes locally.");
      worker = { run, concurrency };
      return {
        async close(graceMs) {
          worker = undefined;
          queue.clear();
          again.clear();
          const until = performance.now() + graceMs;
          while (running.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
        },
      };
    },
    close() {
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
