// volley-mcp/tasks/sqlite: tasks in a file, for one process or several on one machine.
import { checkOptions, needOption, type OptionNames } from "../protocol/index.ts";
import { openSqlite } from "../stores/index.ts";
import { dueAt, isTerminal, type TaskEngine, type TaskHead, type TaskRecord } from "./engine.ts";
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
  create table if not exists volley_task_appended (
    id text not null references volley_task (id) on delete cascade,
    version integer not null,
    sealed blob not null,
    primary key (id, version)
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
    appended: db.prepare("select sealed from volley_task_appended where id = ? order by version"),
    create: db.prepare(
      `insert into volley_task (id, version, ended, due_at, keep_until, owner, expires_at, head, sealed)
       select ?, ?, ?, ?, ?, ?, ?, ?, ?
       where (select count(*) from volley_task where owner = ? and expires_at > ? and ended = 0) < ?
       on conflict do nothing`,
    ),
    update: db.prepare(
      `update volley_task set version = ?, ended = ?, due_at = ?, keep_until = ?, head = ?
       where id = ? and version = ? and ended = 0`,
    ),
    replace: db.prepare("update volley_task set sealed = ? where id = ?"),
    clear: db.prepare("delete from volley_task_appended where id = ?"),
    append: db.prepare("insert into volley_task_appended (id, version, sealed) values (?, ?, ?)"),
    due: db.prepare("select id from volley_task where due_at <= ? order by due_at limit ?"),
    sweep: db.prepare(
      "delete from volley_task where id in (select id from volley_task where keep_until <= ? limit 1000)",
    ),
  };
  const read = (id: string): TaskRecord | undefined => {
    const row = statements.read.get(id) as { readonly head: string; readonly sealed: Uint8Array } | undefined;
    if (row === undefined) return undefined;
    const appended = statements.appended.all(id) as { readonly sealed: Uint8Array }[];
    return {
      ...(JSON.parse(row.head) as TaskHead),
      sealed: row.sealed,
      appended: appended.map(({ sealed }) => sealed),
    };
  };
  const waker = createLocalWaker();

  return {
    waker,
    store: {
      create: (record, most = Number.POSITIVE_INFINITY) =>
        file.write(() => {
          const { sealed, appended: _none, ...given } = record;
          const { version, ended, due, keepUntil, head } = columns(given);
          const { id, owner, expiresAt, createdAt } = record;
          const row = [id, version, ended, due, keepUntil, owner, expiresAt, head, sealed];
          const { changes } = statements.create.run(...row, owner, createdAt, most);
          return Number(changes) === 1 ? record : read(id);
        }),
      read: (id) => file.read(() => read(id)),
      update: (id, before, given, sealed) =>
        file.write(() => {
          const { version, ended, due, keepUntil, head } = columns(given);
          const { changes } = statements.update.run(version, ended, due, keepUntil, head, id, before);
          if (Number(changes) !== 1) return false;
          if (sealed !== undefined && "more" in sealed) statements.append.run(id, version, sealed.more);
          else if (sealed !== undefined) {
            statements.replace.run(sealed.whole, id);
            statements.clear.run(id);
          }
          return true;
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

function columns(head: TaskHead) {
  return {
    version: head.version,
    ended: isTerminal(head.status) ? 1 : 0,
    due: dueAt(head),
    keepUntil: head.keepUntil,
    head: JSON.stringify(head),
  };
}
