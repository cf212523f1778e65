// volley-mcp/tasks/sqlite: tasks in a file, for one process or several on one machine.
import { checkOptions, needOption, type OptionNames } from "../protocol/index.ts";
import { openSqlite } from "../stores/index.ts";
import { dueAt, isTerminal, type TaskEngine, type TaskRecord } from "./engine.ts";
import { createLocalWaker } from "./local-waker.ts";

export interface SqliteEngineOptions {
  /** The database file, on a local disk; it and its `-wal` and `-shm` are made when they are missing. */
  readonly path: string;
  /** How long a call waits for other processes before it rejects, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
}

const SCHEMA = `
  create table if not exists volley_task (
    id text primary key,
    version integer not null,
    ended integer not null,
    due_at integer,
    keep_until integer not null,
    owner text not null,
    expires_at integer not null,
    head text not null,
    sealed blob not null
  ) strict;
  create index if not exists volley_task_due on volley_task (due_at) where due_at is not null;
  create index if not exists volley_task_keep_until on volley_task (keep_until);
  create index if not exists volley_task_live on volley_task (owner, expires_at) where ended = 0;
`;

const OPTIONS: OptionNames<SqliteEngineOptions> = { path: true, timeoutMs: true };

/**
 * A {@link TaskEngine} in a file. Every write is on the disk before it is answered (WAL, synchronous FULL).
 *
 * Tasks that another process of the machine stores are found by this one's worker within its sweep.
 *
 * @throws VolleyError `invalid_options` on Node before 22.13, which has no `node:sqlite`, or for a file that cannot be it
 * @example
 * ```ts
 * import { createServer } from "volley-mcp";
 * import { createTasks, createWorker } from "volley-mcp/tasks";
 * import { createSqliteEngine } from "volley-mcp/tasks/sqlite";
 * const engine = createSqliteEngine({ path: "tasks.db" });
 * const server = createServer({ name: "builds", version: "1.0.0", singleInstance: true, tasks: createTasks({ engine }) });
 * const worker = await createWorker(server, { engine });
 * ```
 */
export function createSqliteEngine(options: SqliteEngineOptions): TaskEngine {
  checkOptions("createSqliteEngine", options, OPTIONS);
  needOption("createSqliteEngine", options, "path");
  const { path, timeoutMs = 5_000 } = options;
  const file = openSqlite({
    caller: "createSqliteEngine",
    otherwise: "volley-mcp/tasks/bullmq-redis or volley-mcp/tasks/bullmq-postgres",
    path,
    schema: SCHEMA,
    timeoutMs,
  });
  const { db } = file;
  const statements = {
    read: db.prepare("select head, sealed from volley_task where id = ?"),
    create: db.prepare(
      `insert into volley_task (id, version, ended, due_at, keep_until, owner, expires_at, head, sealed)
       select ?, ?, ?, ?, ?, ?, ?, ?, ?
       where (select count(*) from volley_task where owner = ? and expires_at > ? and ended = 0) < ?
       on conflict do nothing`,
    ),
    update: db.prepare(
      `update volley_task set version = ?, ended = ?, due_at = ?, keep_until = ?, head = ?, sealed = ?
       where id = ? and version = ? and ended = 0`,
    ),
    due: db.prepare("select id from volley_task where due_at <= ? order by due_at limit ?"),
    sweep: db.prepare(
      "delete from volley_task where id in (select id from volley_task where keep_until <= ? limit 1000)",
    ),
  };
  const read = (id: string): TaskRecord | undefined => {
    const row = statements.read.get(id) as { readonly head: string; readonly sealed: Uint8Array } | undefined;
    return row && { ...(JSON.parse(row.head) as Omit<TaskRecord, "sealed">), sealed: row.sealed };
  };
  const waker = createLocalWaker();

  return {
    waker,
    store: {
      create: (record, most = Number.POSITIVE_INFINITY) =>
        file.write(() => {
          const { version, ended, due, keepUntil, head, sealed } = columns(record);
          const { id, owner, expiresAt, createdAt } = record;
          const row = [id, version, ended, due, keepUntil, owner, expiresAt, head, sealed];
          const { changes } = statements.create.run(...row, owner, createdAt, most);
          return Number(changes) === 1 ? record : read(id);
        }),
      read: (id) => file.read(() => read(id)),
      update: (id, before, record) =>
        file.write(() => {
          const { version, ended, due, keepUntil, head, sealed } = columns(record);
          const { changes } = statements.update.run(version, ended, due, keepUntil, head, sealed, id, before);
          return Number(changes) === 1;
        }),
      due: (now, limit) =>
        file.read(() => (statements.due.all(now, limit) as { readonly id: string }[]).map(({ id }) => id)),
      async sweep(now) {
        await file.write(() => statements.sweep.run(now));
      },
    },
    async close() {
      waker.close();
      file.close();
    },
  };
}

function columns(record: TaskRecord) {
  const { sealed, ...head } = record;
  return {
    version: record.version,
    ended: isTerminal(record.status) ? 1 : 0,
    due: dueAt(record),
    keepUntil: record.keepUntil,
    head: JSON.stringify(head),
    sealed,
  };
}
