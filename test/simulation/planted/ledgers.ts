// Ledgers as somebody might write them who has not thought of everything.
import type { Claim, ClaimResult, Hold, Settled } from "../../../src/ledger/index.ts";
import type { Effect } from "../../../src/ledger/rule.ts";
import { ModelLedger } from "../model-ledger.ts";
import type { Planted } from "../planted.ts";

/** A hold is known by its effect's name: who has lost it writes all the same. */
class NoEpochCheck extends ModelLedger {
  protected override rewrite(effects: readonly Effect[], hold: Hold, to: Partial<Effect> | undefined) {
    const held = effects.find(({ name, state }) => name === hold.name && state === "running");
    return super.rewrite(effects, held === undefined ? hold : { ...hold, ...held }, to);
  }
}

class BlindSettle extends ModelLedger {
  override settle(hold: Hold, outcome: Omit<Settled, "name">): boolean {
    const row = this.find(hold.row);
    const effects = row?.effects.map((effect) =>
      effect.name === hold.name ? { ...effect, state: "settled" as const } : effect,
    );
    if (row === undefined || effects === undefined) return false;
    const outcomes = new Map(row.outcomes).set(hold.name, { name: hold.name, ...outcome });
    this.rows.set(hold.row, { ...row, effects, outcomes });
    return true;
  }
}

/** Gives back what is another's by now. */
class ReleaseAfterLoss extends ModelLedger {
  override release(hold: Hold): boolean {
    const row = this.find(hold.row);
    if (row === undefined) return false;
    this.rows.set(hold.row, { ...row, effects: row.effects.filter(({ name }) => name !== hold.name) });
    return true;
  }
}

class NoAnswers extends ModelLedger {
  override claim(claim: Claim): ClaimResult {
    return super.claim({ ...claim, answers: {} });
  }
}

class NoDeadline extends ModelLedger {
  override claim(claim: Claim): ClaimResult {
    return super.claim({ ...claim, deadline: Number.MAX_VALUE });
  }
}

/** Whose lease is over has done nothing: so it says. */
class FreeAfterLease extends ModelLedger {
  override claim(claim: Claim): ClaimResult {
    const row = this.find(claim.row);
    if (row !== undefined) {
      const effects = row.effects.filter((effect) => effect.state !== "running" || effect.leaseUntil > this.now());
      this.rows.set(claim.row, { ...row, effects });
    }
    return super.claim(claim);
  }
}

/** What threw has done nothing: so it says. */
class DoubtIsRelease extends ModelLedger {
  override doubt(hold: Hold): boolean {
    return this.release(hold);
  }
}

/** Reads a row, and writes what it makes of it a moment later. */
class NotAtomic extends ModelLedger {
  readonly #read = new Map<string, { readonly until: number; readonly effects: readonly Effect[] }>();

  override claim(claim: Claim): ClaimResult {
    const row = this.rows.get(claim.row);
    const read = this.#read.get(claim.row);
    const isOld = read !== undefined && read.until > this.now();
    if (!isOld) this.#read.set(claim.row, { until: this.now() + 20, effects: row?.effects ?? [] });
    if (row !== undefined && isOld) this.rows.set(claim.row, { ...row, effects: read.effects });
    return super.claim(claim);
  }
}

/** Rows go when their lease is over. */
class ForgetsEarly extends ModelLedger {
  override claim(claim: Claim): ClaimResult {
    return super.claim({ ...claim, keepUntil: this.now() + 10_000 });
  }
}

class KeepsForEver extends ModelLedger {
  override claim(claim: Claim): ClaimResult {
    return super.claim({ ...claim, keepUntil: Number.MAX_VALUE });
  }
}

/** The rounds of a flow that holds its states to one set of answers are not held to it. */
class EachStateTwice extends ModelLedger {
  override claim(claim: Claim): ClaimResult {
    return claim.leaseMs === 0 ? { status: "claimed", epoch: 1 } : super.claim(claim);
  }
}

/** Says that it has settled before it has, and then has not. */
class SettlesLater extends ModelLedger {
  override settle(hold: Hold, outcome: Omit<Settled, "name">): boolean {
    return outcome.value.length % 3 === 0 ? true : super.settle(hold, outcome);
  }
}

export const LEDGERS: readonly Planted[] = [
  { name: "a missing epoch check", ledger: (now) => new NoEpochCheck(now), shapes: ["slow-effect"] },
  { name: "a settle without compare-and-set", ledger: (now) => new BlindSettle(now), shapes: ["slow-effect"] },
  { name: "a release after the claim was lost", ledger: (now) => new ReleaseAfterLoss(now), shapes: ["slow-effect"] },
  { name: "once without comparing answers", ledger: (now) => new NoAnswers(now) },
  { name: "a deadline that is not enforced", ledger: (now) => new NoDeadline(now), shapes: ["short-lived"] },
  { name: "a lease that is over is taken for nothing done", ledger: (now) => new FreeAfterLease(now) },
  { name: "what threw is taken for nothing done", ledger: (now) => new DoubtIsRelease(now) },
  { name: "a claim that is not atomic", ledger: (now) => new NotAtomic(now) },
  { name: "rows that go too early", ledger: (now) => new ForgetsEarly(now) },
  { name: "rows that never go", ledger: (now) => new KeepsForEver(now) },
  { name: "two answers to one state, both used", ledger: (now) => new EachStateTwice(now), shapes: ["single-use"] },
  {
    name: "a settle that is told before it is done",
    ledger: (now) => new SettlesLater(now),
    shapes: ["steps", "once", "recover"],
  },
  { name: "a ledger of each process's own", ledgers: "apart" },
];
