import process from "node:process";
import type { DatabaseSync } from "node:sqlite";
import { VolleyError } from "../protocol/index.ts";

export interface SqliteOptions {
  /** The function that an author has called, for messages. */
  readonly caller: string;
  /** What else there is on a Node without SQLite. */
  readonly otherwise: string;
  readonly path: string;
  /** Statements that make what is missing. */
  readonly schema: string;
  /** How long work waits for other processes before it rejects, in milliseconds. */
  readonly timeoutMs: number;
}

/** A database in a file that processes of one machine share. What was written is on the disk (WAL, synchronous FULL). */
export interface SqliteFile {
  readonly db: DatabaseSync;
  /** Reads one state of the file, in a transaction that holds up nobody. */
  read<T>(work: () => T): Promise<T>;
  /**
   * Writes, in one transaction with whatever else waits to be written: all of it waits for the disk once. When one of them
   * throws, all reject and nothing is written.
   */
  write<T>(work: () => T): Promise<T>;
  close(): void;
}

/** SQLite waits inside the event loop: no longer than this at a time, the rest outside. */
const BLOCK_MS = 5;
/** How long opening may wait for other processes that open the same file. */
const OPEN_MS = 10_000;

/** A write that waits. */
interface Write {
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** @throws VolleyError `invalid_options` on Node before 22.13, which has no `node:sqlite`, or for a file that cannot be it */
export function openSqlite(options: SqliteOptions): SqliteFile {
  const { timeoutMs } = options;
  const db = open(options);

  /** All of it or nothing, as soon as no other process is in the way. */
  const transact = <T>(mode: "deferred" | "immediate", work: () => T): Promise<T> =>
    whenFree(timeoutMs, () => {
      db.exec(`begin ${mode}`);
      try {
        const value = work();
        db.exec("commit");
        return value;
      } catch (error) {
        if (db.isTransaction) db.exec("rollback");
        throw error;
      }
    });

  let waiting: Write[] = [];
  let writing = false;

  const writeAll = async (): Promise<void> => {
    writing = true;
    while (waiting.length > 0) {
      await new Promise((resolve) => void setImmediate(resolve));
      let batch: readonly Write[] = [];
      try {
        const values = await transact("immediate", () => {
          batch = [...batch, ...waiting];
          waiting = [];
          return batch.map(({ work }) => work());
        });
        for (const [index, { resolve }] of batch.entries()) resolve(values[index]);
      } catch (error) {
        for (const { reject } of [...batch, ...waiting]) reject(error);
        waiting = [];
      }
    }
    writing = false;
  };

  return {
    db,
    read: (work) => transact("deferred", work),
    write: <T>(work: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        waiting.push({ work, resolve: (value) => resolve(value as T), reject });
        if (!writing) void writeAll();
      }),
    close: () => db.close(),
  };
}

function open({ caller, otherwise, path, schema }: SqliteOptions): DatabaseSync {
  const sqlite = process.getBuiltinModule?.("node:sqlite");
  if (sqlite === undefined) {
    throw new VolleyError(
      "invalid_options",
      `${caller} needs Node 22.13 or newer, which has node:sqlite; this is ${process.version}. ` +
        `Use a newer Node, or ${otherwise}.`,
    );
  }
  let mode: unknown;
  let db: DatabaseSync | undefined;
  try {
    db = new sqlite.DatabaseSync(path);
    db.exec(`pragma busy_timeout = ${OPEN_MS}; pragma synchronous = full`);
    mode = db.prepare("pragma journal_mode = wal").get()?.journal_mode;
    if (mode === "wal") db.exec(`begin immediate; ${schema} commit; pragma busy_timeout = ${BLOCK_MS}`);
  } catch (cause) {
    db?.close();
    throw new VolleyError("invalid_options", `${caller} cannot open "${path}": ${String(cause)}`, { cause });
  }
  if (mode === "wal") return db;
  db.close();
  throw new VolleyError(
    "invalid_options",
    `${caller} needs a file on a local disk; "${path}" has no write-ahead log (journal mode "${mode}").`,
  );
}

/** Tries until no other process is in the way. */
async function whenFree<T>(timeoutMs: number, work: () => T): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAt) throw error;
    }
    await new Promise((resolve) => void setTimeout(resolve, 1 + Math.random() * 10));
  }
}

/** SQLITE_BUSY, with its extended codes. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === 5;
}
