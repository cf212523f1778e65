import { answerChecks, claimChecks, ownerChecks } from "./ledger-checks.ts";
import type { LedgerCheck } from "./ledger-probe.ts";
import { outageChecks, timeChecks, valueChecks } from "./ledger-store-checks.ts";

/**
 * What every `Ledger` must do, as checks for any test runner: for whoever writes a store of their own. Our own stores
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
