import { AsyncLocalStorage } from "node:async_hooks";

/** The step or effect that the current code runs in, so that a context call made in one can be told from one beside it. */
export const inside: AsyncLocalStorage<{ readonly run: object; readonly name: string }> = new AsyncLocalStorage();

/** Whether the caller runs inside a step or effect of any run. */
export function isInsideWork(): boolean {
  return inside.getStore() !== undefined;
}
