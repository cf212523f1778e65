// What a process of the fleet of tasks is told at its start.
import type { StoreKind } from "../../ledger/stores.ts";

export interface TaskProcess {
  readonly kind: StoreKind;
  /** Where it serves; undefined: it does not. */
  readonly socket: string | undefined;
  /** Whether it runs tasks. */
  readonly works: boolean;
  /** Where the engine has its tasks, and the ledger its rows. */
  readonly tasks: string;
  readonly ledger: string;
  /** Files of the test's own: what was done, and which steps ran. */
  readonly truth: string;
  readonly log: string;
  readonly keys: readonly string[];
}

/** What the tools of the fleet are called with. */
export interface TaskArguments {
  readonly order: string;
  readonly trouble: string;
  /** Another one for each order: by it the store's records can be told apart. */
  readonly ttlMs: number;
}

/** What a task that has ended well says. */
export interface Said {
  readonly answers: Readonly<Record<string, string | number>>;
  readonly steps: readonly string[];
  /** What was done, as JSON. */
  readonly done: string;
  /** Another one for each run of the handler that came to its end. */
  readonly by: string;
}

export const POLL_MS = 250;
