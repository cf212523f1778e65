// volley-mcp/ledger/sqlite: the record behind `once` in a file, shared by the processes of one machine.
import { checkOptions, needOption, type OptionNames } from "../protocol/index.ts";
import { openSqlite } from "../stores/index.ts";
import type { Claim, ClaimResult, Hold, Ledger, Settled } from "./ledger.ts";
import { decide, type Effect, keptUntil, rewrite } from "./rule.ts";

export interface SqliteLedgerOptions {
  /** The database file, on a local disk; it and its `-wal` and `-shm` are made when they are missing. */
  readonly path: string;
  /** How long a call waits for other processes before it rejects, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
}

const SWEEP_MS = 60_000;
const SWEEP_ROWS = 1_000;

const SCHEMA = `
  create table if not exists volley_row (id text primary key, keep_until integer not null, effects text not null) strict;
  create index if not exists volley_row_keep_until on volley_row (keep_until);
  create table if not exists volley_outcome (
    row_id text not null references volley_row (id) on delete cascade,
    name text not null,
    failed integer not null,
    value blob not null,
    primary key (row_id, name)
  ) strict;
`;

interface Row {
  readonly keepUntil: number;
  readonly effects: readonly Effect[];
}

const OPTIONS: OptionNames<SqliteLedgerOptions> = { path: true, timeoutMs: true };

/**
 * A {@link Ledger} in a file: shared by the processes of one machine, and still there after a crash or a power cut.
 *
 * Every write is on the disk before it is answered (WAL, synchronous FULL), which holds the event loop for as long as the
 * disk takes, often below a millisecond. Not for network file systems.
 *
 * @throws VolleyError `invalid_options` on Node before 22.13, which has no `node:sqlite`, or for a file that cannot be it
 * @example
 * ```ts
 * import { createSqliteLedger } from "volley-mcp/ledger/sqlite";
 * const server = createServer({ name: "shop", version: "1.0.0", ledger: createSqliteLedger({ path: "ledger.db" }) });
 * ```
 */
export function createSqliteLedger(options: SqliteLedgerOptions): Ledger {
  checkOptions("createSqliteLedger", options, OPTIONS);
  needOption("createSqliteLedger", options, "path");
  const { path, timeoutMs = 5_000 } = options;
  const file = openSqlite({
    caller: "createSqliteLedger",
    otherwise: "volley-mcp/ledger/redis or volley-mcp/ledger/postgres",
    path,
    schema: SCHEMA,
    timeoutMs,
  });
  const { db } = file;
  const statements = {
    now: db.prepare("select cast(unixepoch('subsec') * 1000 as integer) as now"),
    read: db.prepare("select keep_until as keepUntil, effects from volley_row where id = ?"),
    write: db.prepare(
      "insert into volley_row values (?, ?, ?) on conflict do update set keep_until = excluded.keep_until, effects = excluded.effects",
    ),
    drop: db.prepare("delete from volley_row where id = ? and keep_until < ?"),
    sweep: db.prepare("delete from volley_row where id in (select id from volley_row where keep_until < ? limit ?)"),
    settle: db.prepare("insert into volley_outcome values (?, ?, ?, ?)"),
    outcome: db.prepare("select failed, value from volley_outcome where row_id = ? and name = ?"),
  };
  let sweepAt = 0;

  const read = (id: string, time: number): Row | undefined => {
    const found = statements.read.get(id) as { readonly keepUntil: number; readonly effects: string } | undefined;
    if (found === undefined || found.keepUntil < time) return undefined;
    return { keepUntil: found.keepUntil, effects: JSON.parse(found.effects) as readonly Effect[] };
  };

  const write = (id: string, { keepUntil, effects }: Row): void => {
    statements.write.run(id, keepUntil, JSON.stringify(effects));
  };

  const settledOf = (id: string, effects: readonly Effect[]): Settled[] =>
    effects.flatMap(({ name }) => {
      const found = statements.outcome.get(id, outcomeName(name)) as
        | { readonly failed: number; readonly value: Uint8Array }
        | undefined;
      return found === undefined ? [] : { name, failed: found.failed === 1, value: found.value };
    });

  /** What becomes of a claim, and the row as it must be written for that. */
  const judge = (claim: Claim, time: number): { readonly result: ClaimResult; readonly write?: Row } => {
    const row = read(claim.row, time);
    const effects = row?.effects ?? [];
    const decision = decide(effects, claim, time);
    if (decision.status === "expired") return { result: decision };
    const keepUntil = keptUntil(row?.keepUntil ?? 0, claim.keepUntil);
    if (decision.status === "claimed") {
      const result = { status: "claimed", epoch: decision.epoch } as const;
      if (decision.effects === undefined) return { result };
      const kept = keptUntil(keepUntil, time + claim.leaseMs);
      return { result, write: { keepUntil: kept, effects: decision.effects } };
    }
    const kept = keepUntil === row?.keepUntil ? {} : { write: { keepUntil, effects } };
    switch (decision.status) {
      case "settled": {
        const own = effects.filter(({ name }) => name === claim.name);
        return { result: { status: "settled", settled: settledOf(claim.row, own)[0] as Settled }, ...kept };
      }
      case "conflict":
        return { result: { status: "conflict", settled: settledOf(claim.row, effects) }, ...kept };
      default:
        return { result: decision, ...kept };
    }
  };

  /** The database's own clock. */
  const now = (): number => (statements.now.get() as { readonly now: number }).now;

  const change = (hold: Hold, to: (time: number) => Partial<Effect> | undefined, more?: () => void): Promise<boolean> =>
    file.write(() => {
      const time = now();
      const row = read(hold.row, time);
      const changed = to(time);
      const effects = rewrite(row?.effects ?? [], hold, changed);
      if (row === undefined || effects === undefined) return false;
      write(hold.row, { keepUntil: keptUntil(row.keepUntil, changed?.leaseUntil ?? 0), effects });
      more?.();
      return true;
    });

  return {
    shared: true,

    async claim(claim) {
      // Most claims find that nothing is to be written: these take no lock and wait for no disk.
      const seen = await file.read(() => judge(claim, now()));
      if (seen.write === undefined) return seen.result;
      return await file.write(() => {
        const time = now();
        if (time >= sweepAt) {
          const { changes } = statements.sweep.run(time, SWEEP_ROWS);
          sweepAt = changes === SWEEP_ROWS ? 0 : time + SWEEP_MS;
        }
        statements.drop.run(claim.row, time);
        const judged = judge(claim, time);
        if (judged.write !== undefined) write(claim.row, judged.write);
        return judged.result;
      });
    },

    async renew(hold, leaseMs) {
      return await change(hold, (time) => ({ leaseUntil: time + leaseMs }));
    },

    async settle(hold, { failed, value }) {
      const record = (): unknown => statements.settle.run(hold.row, outcomeName(hold.name), failed ? 1 : 0, value);
      return await change(hold, () => ({ state: "settled" }), record);
    },

    async release(hold) {
      return await change(hold, () => undefined);
    },

    async doubt(hold) {
      return await change(hold, () => ({ state: "in_doubt" }));
    },

    async close() {
      file.close();
    },
  };
}

/** As JSON, so that every text is a key of its own, whatever characters it has. */
function outcomeName(name: string): string {
  return JSON.stringify(name);
}
