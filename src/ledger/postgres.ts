// volley-mcp/ledger/postgres: the record behind `once` in PostgreSQL, shared by any number of machines.
import { Buffer } from "node:buffer";
import { checkOptions, needOption, type OptionNames, VolleyError } from "../protocol/index.ts";
import { giveBack } from "./give-back.ts";
import type { ClaimResult, Hold, Ledger, Settled } from "./ledger.ts";
import { NOW, namesOf, schemaSql } from "./postgres-schema.ts";
import { keptUntil } from "./rule.ts";
import { sleep, within } from "./within.ts";

/** What the ledger uses of a `Pool` of the package `pg`, or of one that is made like it. */
export interface PostgresPool {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{
    readonly rows: readonly unknown[];
    readonly rowCount: number | null;
  }>;
}

export type PostgresLedgerOptions = (
  | {
      /** Your own pool; you end it, and listen to its `error` events. */
      readonly pool: PostgresPool;
    }
  | {
      /** Where the database is, as `postgres://`. */
      readonly connectionString: string;
    }
) & {
  /** The table, with its schema if it is not on the search path. Default `"volley_ledger"`. */
  readonly table?: string;
  /** How long a call waits for an answer before it rejects, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
};

const SWEEP_MS = 60_000;
const SWEEP_ROWS = 1_000;

const OPTIONS: OptionNames<PostgresLedgerOptions> = {
  pool: true,
  connectionString: true,
  table: true,
  timeoutMs: true,
};

/**
 * A {@link Ledger} in PostgreSQL 12 or newer: one table, one statement a call, judged by the database's clock.
 *
 * What is missing of the table and its two functions is made when the ledger is; many processes may start at once. A user
 * that may not make tables needs them made before, by one that may.
 *
 * Needs the package `pg`. For what cannot be undone keep `synchronous_commit` on, and with fail-over a synchronous
 * standby: without one, what was acknowledged last can be lost.
 *
 * @throws VolleyError `invalid_options` for a table that is no name; whatever pg throws when the database is not there
 * @example
 * ```ts
 * import { createPostgresLedger } from "volley-mcp/ledger/postgres";
 * const ledger = await createPostgresLedger({ connectionString: "postgres://volley@db.internal/shop" });
 * const server = createServer({ name: "shop", version: "1.0.0", audience: "https://shop.example/mcp", ledger });
 * ```
 */
export async function createPostgresLedger(options: PostgresLedgerOptions): Promise<Ledger> {
  checkOptions("createPostgresLedger", options, OPTIONS);
  needOption("createPostgresLedger", options, "pool", "connectionString");
  const { table = "volley_ledger", timeoutMs = 5_000 } = options;
  if (!/^([a-z_][a-z0-9_]{0,39}\.)?[a-z_][a-z0-9_]{0,39}$/.test(table)) {
    throw new VolleyError(
      "invalid_options",
      `createPostgresLedger: the table "${table}" must be a name of lower-case letters, digits and _, at most 40 long, with or without a schema.`,
    );
  }
  const { pool, end } = "pool" in options ? { pool: options.pool, end: undefined } : await connect(options, timeoutMs);
  const names = namesOf(table);
  const claimSql = `select * from ${names.claim}($1, $2, $3, $4, $5, $6, $7, $8)`;
  const changeSql = `select ${names.change}($1, $2, $3, $4, $5, $6, $7, $8) as done`;
  const sweepSql = `delete from ${table} where id in (
    select id from ${table} where keep_until < ${NOW} limit ${SWEEP_ROWS} for update skip locked)`;
  let sweepAt = 0;

  const ask = (
    text: string,
    values: unknown[],
    late?: (rows: readonly unknown[]) => void,
  ): Promise<readonly unknown[]> =>
    within(
      timeoutMs,
      persist(timeoutMs, async () => (await pool.query(text, values)).rows),
      late,
    );

  /** Drops rows that are past their time, so many at once and beside the claims. */
  const sweep = (): void => {
    const time = performance.now();
    if (time < sweepAt) return;
    sweepAt = time + SWEEP_MS;
    pool.query(sweepSql).then(
      ({ rowCount }) => {
        if (rowCount === SWEEP_ROWS) sweepAt = 0;
      },
      () => {}, // Whatever is wrong, claims say it, and the next sweep does it.
    );
  };

  const change = async (
    hold: Hold,
    kind: string,
    leaseMs?: number,
    failed?: boolean,
    value?: Buffer,
  ): Promise<boolean> => {
    const { row, name, owner, epoch } = hold;
    const rows = await ask(changeSql, [row, asText(name), owner, epoch, kind, leaseMs, failed, value]);
    return (rows[0] as { readonly done: boolean }).done;
  };

  try {
    await within(
      timeoutMs,
      persist(timeoutMs, () => migrate(pool, table)),
    );
  } catch (error) {
    await end?.();
    throw error;
  }

  const ledger: Ledger = {
    shared: true,

    async claim(claim) {
      sweep();
      const { row, name, owner, deadline, keepUntil, leaseMs, takeOver } = claim;
      const answers = Object.entries(claim.answers).map(([key, digest]) => [asText(key), digest]);
      const values = [row, asText(name), owner, Object.fromEntries(answers)];
      const times = [keptUntil(deadline), keptUntil(keepUntil), leaseMs, takeOver === true];
      // A claim that is granted when nobody waits for it any more would leave an effect in doubt that never began.
      const late = (rows: readonly unknown[]): void => {
        const result = readResult(rows as readonly ClaimRow[]);
        if (result.status === "claimed") giveBack(ledger, { row, name, owner, epoch: result.epoch }).catch(() => {});
      };
      return readResult((await ask(claimSql, [...values, ...times], late)) as readonly ClaimRow[]);
    },
    renew: (hold, leaseMs) => change(hold, "renew", leaseMs),
    settle: (hold, { failed, value }) => change(hold, "settle", undefined, failed, asBuffer(value)),
    release: (hold) => change(hold, "release"),
    doubt: (hold) => change(hold, "doubt"),
    async close() {
      await end?.();
    },
  };
  return ledger;
}

interface ClaimRow {
  readonly r_status: ClaimResult["status"];
  readonly r_epoch: number | null;
  readonly r_name: string | null;
  readonly r_failed: boolean | null;
  readonly r_value: Uint8Array | null;
}

function readResult(rows: readonly ClaimRow[]): ClaimResult {
  const [first] = rows;
  if (first === undefined) throw new Error("The claim function of the ledger's table returned nothing.");
  const outcomes = (): Settled[] =>
    rows.flatMap(({ r_name, r_failed, r_value }) =>
      r_name === null || r_value === null
        ? []
        : { name: JSON.parse(r_name), failed: r_failed === true, value: r_value },
    );
  switch (first.r_status) {
    case "claimed":
      return { status: "claimed", epoch: Number(first.r_epoch) };
    case "settled":
      return { status: "settled", settled: outcomes()[0] as Settled };
    case "conflict":
      return { status: "conflict", settled: outcomes() };
    default:
      return { status: first.r_status };
  }
}

async function connect(
  { connectionString }: { readonly connectionString: string },
  timeoutMs: number,
): Promise<{ readonly pool: PostgresPool; readonly end: () => Promise<void> }> {
  const { Pool } = await import("pg");
  // A query that is never answered gives its connection up, but later than it is waited for.
  const pool = new Pool({
    connectionString,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: 2 * timeoutMs,
    keepAlive: true,
  });
  // Connections that break while nobody uses them are replaced; without a listener they would end the process.
  pool.on("error", () => {});
  return { pool, end: () => pool.end() };
}

async function migrate(pool: PostgresPool, table: string): Promise<void> {
  const { rows } = await pool.query("select to_regproc($1) is not null and to_regproc($2) is not null as there", [
    namesOf(table).claim,
    namesOf(table).change,
  ]);
  if (!(rows[0] as { readonly there: boolean }).there) await pool.query(schemaSql(table));
}

/** Calls again while the database is not there or asks for it; every call finds itself, should it have happened already. */
async function persist<T>(timeoutMs: number, call: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  for (let delay = 50; ; delay = Math.min(2 * delay, 500)) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || performance.now() + delay >= giveUpAt) throw error;
    }
    await sleep(delay);
  }
}

/** Broken connections (class 08, system errors, those of pg, which have no code), restarts, lost races of transactions. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return code === "" ? /connection/i.test(error.message) : /^(E[A-Z]+|08\w{3}|57P0[123]|40001|40P01)$/.test(code);
}

/** As JSON, since Postgres has no text with U+0000 in it. */
function asText(text: string): string {
  return JSON.stringify(text);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
