// volley-mcp/ledger/memory: the record behind `once` in the memory of one process; the default of every server.
import { checkOptions, type OptionNames } from "../protocol/index.ts";
import type { Claim, ClaimResult, Hold, Ledger, Settled } from "./ledger.ts";
import { decide, type Effect, keptUntil, rewrite } from "./rule.ts";

interface MemoryLedgerOptions {
  readonly now?: () => number;
}

const OPTIONS: OptionNames<MemoryLedgerOptions> = { now: true };

interface Row {
  keepUntil: number;
  effects: readonly Effect[];
  readonly outcomes: Map<string, Settled>;
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
export function createMemoryLedger(options: MemoryLedgerOptions = {}): Ledger {
  checkOptions("createMemoryLedger", options, OPTIONS);
  const now = options.now ?? Date.now;
  const rows = new Map<string, Row>();
  let sweepAt = 0;

  const sweep = (time: number): void => {
    if (time < sweepAt) return;
    sweepAt = time + 60_000;
    for (const [id, row] of rows) if (row.keepUntil < time) rows.delete(id);
  };

  const find = (id: string, time: number): Row | undefined => {
    const row = rows.get(id);
    return row !== undefined && row.keepUntil >= time ? row : undefined;
  };

  const change = (hold: Hold, to: Partial<Effect> | undefined): Row | undefined => {
    const row = find(hold.row, now());
    const effects = rewrite(row?.effects ?? [], hold, to);
    if (row === undefined || effects === undefined) return undefined;
    row.effects = effects;
    return row;
  };

  return {
    shared: false,

    async claim(claim: Claim): Promise<ClaimResult> {
      const time = now();
      sweep(time);
      const row = find(claim.row, time) ?? { keepUntil: 0, effects: [], outcomes: new Map<string, Settled>() };
      const decision = decide(row.effects, claim, time);
      if (decision.status === "expired") return decision;
      row.keepUntil = keptUntil(row.keepUntil, claim.keepUntil);
      rows.set(claim.row, row);
      switch (decision.status) {
        case "claimed":
          row.effects = decision.effects ?? row.effects;
          row.keepUntil = keptUntil(row.keepUntil, time + claim.leaseMs);
          return { status: "claimed", epoch: decision.epoch };
        case "settled":
          return { status: "settled", settled: outcomesOf(row, claim.name)[0] as Settled };
        case "conflict":
          return { status: "conflict", settled: outcomesOf(row) };
        default:
          return decision;
      }
    },

    async renew(hold: Hold, leaseMs: number): Promise<boolean> {
      const leaseUntil = now() + leaseMs;
      const row = change(hold, { leaseUntil });
      if (row !== undefined) row.keepUntil = keptUntil(row.keepUntil, leaseUntil);
      return row !== undefined;
    },

    async settle(hold: Hold, { failed, value }): Promise<boolean> {
      const row = change(hold, { state: "settled" });
      row?.outcomes.set(hold.name, { name: hold.name, failed, value });
      return row !== undefined;
    },

    async release(hold: Hold): Promise<boolean> {
      return change(hold, undefined) !== undefined;
    },

    async doubt(hold: Hold): Promise<boolean> {
      return change(hold, { state: "in_doubt" }) !== undefined;
    },
  };
}

function outcomesOf(row: Row, name?: string): Settled[] {
  return row.effects.flatMap((effect) =>
    name === undefined || effect.name === name ? (row.outcomes.get(effect.name) ?? []) : [],
  );
}
