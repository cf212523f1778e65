// volley-mcp/ledger/memory: the record behind `once` in the memory of one process; the default of every server.
import type { Claim, ClaimResult, Hold, Ledger, Settled } from "./ledger.ts";

interface Effect {
  state: "running" | "in_doubt" | "settled";
  owner: string;
  epoch: number;
  leaseUntil: number;
  answers: Readonly<Record<string, string>>;
  settled: Settled | undefined;
}

interface Row {
  keepUntil: number;
  readonly effects: Map<string, Effect>;
}

/**
 * A {@link Ledger} in this process's memory: right for one process, useless for two, gone with it.
 *
 * Rows are dropped once past their time, looked at in passing whenever a claim comes.
 *
 * @example
 * ```ts
 * import { createMemoryLedger } from "volley-mcp/ledger/memory";
 * const server = createServer({ name: "shop", version: "1.0.0", singleInstance: true, ledger: createMemoryLedger() });
 * ```
 */
export function createMemoryLedger(options: { readonly now?: () => number } = {}): Ledger {
  const now = options.now ?? Date.now;
  const rows = new Map<string, Row>();
  let sweepAt = 0;

  const sweep = (time: number): void => {
    if (time < sweepAt) return;
    sweepAt = time + 60_000;
    for (const [id, row] of rows) if (row.keepUntil < time) rows.delete(id);
  };

  const held = (hold: Hold): Effect | undefined => {
    const effect = rows.get(hold.row)?.effects.get(hold.name);
    return effect?.state === "running" && effect.owner === hold.owner && effect.epoch === hold.epoch
      ? effect
      : undefined;
  };

  return {
    shared: false,

    async claim(claim: Claim): Promise<ClaimResult> {
      const time = now();
      sweep(time);
      if (time > claim.deadline) return { status: "expired" };
      const row = rows.get(claim.row) ?? { keepUntil: claim.keepUntil, effects: new Map<string, Effect>() };
      rows.set(claim.row, row);
      row.keepUntil = Math.max(row.keepUntil, claim.keepUntil);

      const contradicted = [...row.effects.values()].filter((effect) => contradicts(claim.answers, effect.answers));
      if (contradicted.length > 0) {
        // A running effect may still be given back: until then nobody can say whether its answers count.
        if (contradicted.every((effect) => effect.state === "running" && effect.leaseUntil > time)) {
          return { status: "running" };
        }
        return { status: "conflict", settled: settledOf(row) };
      }

      const effect = row.effects.get(claim.name);
      if (effect === undefined) {
        row.effects.set(claim.name, begun(claim, 1, time));
        return { status: "claimed", epoch: 1 };
      }
      if (effect.settled !== undefined) return { status: "settled", settled: effect.settled };
      if (effect.state === "running" && effect.leaseUntil > time) {
        return effect.owner === claim.owner ? { status: "claimed", epoch: effect.epoch } : { status: "running" };
      }
      if (claim.takeOver !== true) return { status: "in_doubt" };
      row.effects.set(claim.name, begun(claim, effect.epoch + 1, time));
      return { status: "claimed", epoch: effect.epoch + 1 };
    },

    async renew(hold: Hold, leaseMs: number): Promise<boolean> {
      const effect = held(hold);
      if (effect === undefined) return false;
      effect.leaseUntil = now() + leaseMs;
      return true;
    },

    async settle(hold: Hold, outcome): Promise<boolean> {
      const effect = held(hold);
      if (effect === undefined) return false;
      effect.state = "settled";
      effect.settled = { name: hold.name, failed: outcome.failed, value: outcome.value };
      return true;
    },

    async release(hold: Hold): Promise<boolean> {
      if (held(hold) === undefined) return false;
      rows.get(hold.row)?.effects.delete(hold.name);
      return true;
    },

    async doubt(hold: Hold): Promise<boolean> {
      const effect = held(hold);
      if (effect === undefined) return false;
      effect.state = "in_doubt";
      return true;
    },
  };
}

function begun(claim: Claim, epoch: number, time: number): Effect {
  return {
    state: "running",
    owner: claim.owner,
    epoch,
    leaseUntil: time + claim.leaseMs,
    answers: claim.answers,
    settled: undefined,
  };
}

function contradicts(mine: Readonly<Record<string, string>>, committed: Readonly<Record<string, string>>): boolean {
  return Object.entries(committed).some(([key, digest]) => Object.hasOwn(mine, key) && mine[key] !== digest);
}

function settledOf(row: Row): Settled[] {
  return [...row.effects.values()].flatMap((effect) => effect.settled ?? []);
}
