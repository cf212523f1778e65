import { never } from "./context-promise.ts";
import type { Run } from "./run.ts";

/** Begins work, or does the other thing where it is too late for that. */
export type Begin = <T>(work: () => T | Promise<T>, tooLate: () => T | Promise<T>) => T | Promise<T>;

/**
 * Begins work only while the flow is surely this run's: of a task, a process that has slept may find that another one has
 * done it.
 */
export function whileHeld<T>(
  run: Run,
  work: () => T | Promise<T>,
  tooLate: () => T | Promise<T> = never,
): T | Promise<T> {
  if (run.closed) return tooLate();
  const holding = run.carrier?.hold();
  if (holding === undefined) return work();
  return holding.then(
    // It may have slept again.
    () => whileHeld(run, work, tooLate),
    (error: unknown) => {
      run.lose(error);
      return tooLate();
    },
  );
}
