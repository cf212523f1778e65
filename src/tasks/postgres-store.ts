import { Buffer } from "node:buffer";
import type { Pool } from "pg";
import { dueAt, isTerminal, type TaskHead, type TaskRecord, type TaskStore } from "./engine.ts";

const SWEEP_TASKS = 1_000;

/** What the tables need, in the schema that is the search path. */
export const TASK_TABLE_SQL = `
create table if not exists volley_task (
  id text primary key,
  version integer not null,
  ended boolean not null,
  due_at bigint,
  keep_until bigint not null,
  owner text not null,
  expires_at bigint not null,
  head jsonb not null,
  sealed bytea not null
);
create table if not exists volley_task_appended (
  id text not null references volley_task (id) on delete cascade,
  version integer not null,
  sealed bytea not null,
  primary key (id, version)
);
create index if not exists volley_task_due on volley_task (due_at) where due_at is not null;
create index if not exists volley_task_keep_until on volley_task (keep_until);
create index if not exists volley_task_live on volley_task (owner, expires_at) where not ended;
`;

/** Statements with a name are planned once a connection. */
const READ = {
  name: "volley_task_read",
  text: `
    select head, sealed,
      array(select a.sealed from volley_task_appended a where a.id = t.id order by a.version) as appended
    from volley_task t where id = $1`,
};
const CREATE = {
  name: "volley_task_create",
  text: `
    insert into volley_task (id, version, ended, due_at, keep_until, head, sealed, owner, expires_at)
    select $1, $2::integer, $3::boolean, $4::bigint, $5::bigint, $6::jsonb, $7::bytea, $8, $9::bigint
    where (select count(*) from volley_task where owner = $8 and expires_at > $10::bigint and not ended) < $11::float8
    on conflict do nothing`,
};
/** Columns that are not set are not written anew, however large they are. */
const SET = "update volley_task set version = $3, ended = $4, due_at = $5, keep_until = $6, head = $7";
const WHERE = "where id = $1 and version = $2 and not ended";
const UPDATE = { name: "volley_task_update", text: `${SET} ${WHERE}` };
const REPLACE = {
  name: "volley_task_replace",
  text: `
    with changed as (${SET}, sealed = $8 ${WHERE} returning id),
      cleared as (delete from volley_task_appended where id in (select id from changed))
    select id from changed`,
};
const APPEND = {
  name: "volley_task_append",
  text: `
    with changed as (${SET} ${WHERE} returning id, version)
    insert into volley_task_appended (id, version, sealed) select id, version, $8::bytea from changed`,
};

interface Row {
  readonly head: TaskHead;
  readonly sealed: Buffer;
  readonly appended: readonly Buffer[];
}

/** @param pool whose search path is the table's schema */
export function createPostgresStore(pool: Pool): TaskStore {
  const read = async (id: string): Promise<TaskRecord | undefined> => {
    const { rows } = await pool.query<Row>({ ...READ, values: [id] });
    const [row] = rows;
    return row && { ...row.head, sealed: row.sealed, appended: row.appended };
  };
  return {
    async create(record, most = Number.POSITIVE_INFINITY) {
      const { sealed, appended: _none, ...head } = record;
      const { owner, expiresAt, createdAt } = head;
      const values = [...columns(head), bytesOf(sealed), owner, expiresAt, createdAt, most];
      const { rowCount } = await pool.query({ ...CREATE, values });
      return rowCount === 1 ? record : await read(record.id);
    },
    read,
    async update(id, version, head, sealed) {
      const [, ...columnsOf] = columns(head);
      const values = [id, version, ...columnsOf];
      const query =
        sealed === undefined
          ? { ...UPDATE, values }
          : "more" in sealed
            ? { ...APPEND, values: [...values, bytesOf(sealed.more)] }
            : { ...REPLACE, values: [...values, bytesOf(sealed.whole)] };
      return (await pool.query(query)).rowCount === 1;
    },
    async due(now, limit) {
      const { rows } = await pool.query<{ readonly id: string }>(
        "select id from volley_task where due_at <= $1 order by due_at limit $2",
        [now, limit],
      );
      return rows.map(({ id }) => id);
    },
    async sweep(now) {
      // So many at once, and none that another worker sweeps.
      await pool.query(
        `delete from volley_task where id in (
           select id from volley_task where keep_until <= $1 limit ${SWEEP_TASKS} for update skip locked)`,
        [now],
      );
    },
  };
}

function columns(head: TaskHead): unknown[] {
  const { id, version, status, keepUntil } = head;
  return [id, version, isTerminal(status), dueAt(head), keepUntil, JSON.stringify(head)];
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
