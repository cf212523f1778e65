import { GO_ON, type Said } from "./server-task.ts";

const waiting: (() => void)[] = [];
const quiet: (() => void)[] = [];

/**
 * Has the supervisor stop this process (SIGSTOP) for longer than a lease; resolves when it goes on. The supervisor does it, so that it
 * can choose when: two processes that are stopped together cannot take over from each other.
 */
export function beStopped(): Promise<void> {
  if (waiting.length === 0) process.on("message", hear);
  return new Promise((resolve) => {
    waiting.push(resolve);
    process.send?.({ type: "stopping" } satisfies Said);
  });
}

/** Resolves when every stop that was asked for is over. */
export function stopsOver(): Promise<void> {
  return waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => void quiet.push(resolve));
}

function hear(asked: unknown): void {
  if (asked !== GO_ON) return;
  waiting.shift()?.();
  if (waiting.length > 0) return;
  process.off("message", hear);
  for (const resolve of quiet.splice(0)) resolve();
}
