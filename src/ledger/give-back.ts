import type { Hold, Ledger } from "./ledger.ts";

/**
 * Gives back a claim whose effect was not begun under it; false when it is lost. What was taken over is in doubt, as it
 * was before: its first owner may have done it.
 */
export function giveBack(ledger: Ledger, hold: Hold): Promise<boolean> {
  return hold.epoch === 1 ? ledger.release(hold) : ledger.doubt(hold);
}
