// What other parts may use of the ledger: its interface, and the store in memory.
export { giveBack } from "./give-back.ts";
export type { Claim, ClaimResult, Hold, Ledger, Settled } from "./ledger.ts";
export { createMemoryLedger } from "./memory.ts";
