import type { Ledger } from "../ledger/index.ts";
import { answerChecks, claimChecks, ownerChecks } from "./ledger-checks.ts";
import { outageChecks, timeChecks, valueChecks } from "./ledger-store-checks.ts";

/** A store whose ledger is checked. */
export interface LedgerStore {
  /** Opens the same record, each time over a connection of its own; what it opens is closed again. */
  open(options?: { readonly timeoutMs?: number }): Ledger | Promise<Ledger>;
  /** How many rows it holds, where somebody can look. */
  readonly count?: (() => Promise<number>) | undefined;
  /** Makes the store go away, and come back with what it had. */
  readonly outage?: { begin(): Promise<void>; end(): Promise<void> } | undefined;
}

/** One thing that every ledger must do. */
export interface LedgerCheck {
  readonly name: string;
  /** How long it may take, in milliseconds; it waits for real leases. */
  readonly timeoutMs: number;
  /** What of the store it cannot do without: leave the check out where there is none. */
  readonly needs?: "count" | "outage";
  /** Rejects with an AssertionError that says what was done and what came. Uses rows that no other run uses. */
  run(store: LedgerStore): Promise<void>;
}

/**
 * What every {@link Ledger} must do, as checks for any test runner: for whoever writes a store of their own. Our own stores
 * are held to the same list.
 *
 * @example
 * ```ts
 * import { test } from "node:test";
 * import { ledgerContract } from "volley-mcp/testing";
 * const store = { open: () => createMyLedger("my://localhost") };
 * for (const check of ledgerContract) {
 *   test(check.name, { timeout: check.timeoutMs, skip: check.needs !== undefined }, () => check.run(store));
 * }
 * ```
 */
export const ledgerContract: readonly LedgerCheck[] = [
  ...claimChecks,
  ...answerChecks,
  ...ownerChecks,
  ...timeChecks,
  ...valueChecks,
  ...outageChecks,
];
