// A ledger as test/ledger/contract.ts holds the real ones to it: each call is one moment of the store. The rule of claims is
// the library's own.
import type { Claim, ClaimResult, Hold, Settled } from "../../src/ledger/index.ts";
import { decide, type Effect, keptUntil, rewrite } from "../../src/ledger/rule.ts";

export interface Row {
  readonly keepUntil: number;
  readonly effects: readonly Effect[];
  readonly outcomes: ReadonlyMap<string, Settled>;
}

const EMPTY: Row = { keepUntil: 0, effects: [], outcomes: new Map() };

export class ModelLedger {
  readonly rows = new Map<string, Row>();
  readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  claim(claim: Claim): ClaimResult {
    const time = this.now();
    const row = this.find(claim.row) ?? EMPTY;
    const decision = decide(row.effects, claim, time);
    if (decision.status === "expired") return decision;
    const claimed = decision.status === "claimed";
    this.rows.set(claim.row, {
      ...row,
      effects: claimed ? (decision.effects ?? row.effects) : row.effects,
      keepUntil: keptUntil(row.keepUntil, claim.keepUntil, claimed ? time + claim.leaseMs : 0),
    });
    switch (decision.status) {
      case "claimed":
        return { status: "claimed", epoch: decision.epoch };
      case "settled":
        return { status: "settled", settled: row.outcomes.get(claim.name) as Settled };
      case "conflict":
        return { status: "conflict", settled: row.effects.flatMap(({ name }) => row.outcomes.get(name) ?? []) };
      default:
        return decision;
    }
  }

  renew(hold: Hold, leaseMs: number): boolean {
    return this.change(hold, { leaseUntil: this.now() + leaseMs });
  }

  settle(hold: Hold, outcome: { readonly failed: boolean; readonly value: Uint8Array }): boolean {
    return this.change(hold, { state: "settled" }, { name: hold.name, ...outcome });
  }

  release(hold: Hold): boolean {
    return this.change(hold, undefined);
  }

  doubt(hold: Hold): boolean {
    return this.change(hold, { state: "in_doubt" });
  }

  sweep(): void {
    for (const [id, { keepUntil }] of this.rows) if (keepUntil < this.now()) this.rows.delete(id);
  }

  protected find(id: string): Row | undefined {
    const row = this.rows.get(id);
    return row !== undefined && row.keepUntil >= this.now() ? row : undefined;
  }

  /** Whose write it is that counts. */
  protected rewrite(effects: readonly Effect[], hold: Hold, to: Partial<Effect> | undefined) {
    return rewrite(effects, hold, to);
  }

  protected change(hold: Hold, to: Partial<Effect> | undefined, settled?: Settled): boolean {
    const row = this.find(hold.row);
    const effects = row && this.rewrite(row.effects, hold, to);
    if (row === undefined || effects === undefined) return false;
    this.rows.set(hold.row, {
      effects,
      keepUntil: keptUntil(row.keepUntil, to?.leaseUntil ?? 0),
      outcomes: settled === undefined ? row.outcomes : new Map(row.outcomes).set(hold.name, settled),
    });
    return true;
  }
}
