import { never } from "./context-promise.ts";
import type { Run } from "./run.ts";

/**
 * Begins work only while the flow is surely this run's: of a task, a process that has slept may find that another one has
 * done it.
 */
export function whileHeld<T>(run: Run, work: () => T | Promise<T>): T | Promise<T> {
  const holding = run.carrier?.hold();
  if (holding === undefined) return work();
  return holding.then(
    () => (run.closed ? never() : whileHeld(run, work)),
    (error: unknown) => {
      run.lose(error);
      return never();
    },
  );
}
