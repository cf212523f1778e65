import { AsyncLocalStorage } from "node:async_hooks";
import type { Contestant } from "./call.ts";

/** Where the current code of a handler runs. */
export interface Place {
  readonly run: object;
  /** The step or effect, whose code may not use the context. */
  readonly work?: string;
  /** The side of a race. */
  readonly contestant?: Contestant;
}

export const inside: AsyncLocalStorage<Place> = new AsyncLocalStorage();

/** Whether the caller runs inside a step or effect of any run. */
export function isInsideWork(): boolean {
  return inside.getStore()?.work !== undefined;
}
