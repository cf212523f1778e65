import { Buffer } from "node:buffer";
import type { Pool } from "pg";
import { dueAt, isTerminal, type TaskRecord, type TaskStore } from "./engine.ts";

const SWEEP_TASKS = 1_000;

/** What the table needs, in the schema that is the search path. */
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
create index if not exists volley_task_due on volley_task (due_at) where due_at is not null;
create index if not exists volley_task_keep_until on volley_task (keep_until);
create index if not exists volley_task_live on volley_task (owner, expires_at) where not ended;
`;

/** Statements with a name are planned once a connection. */
const READ = { name: "volley_task_read", text: "select head, sealed from volley_task where id = $1" };
const CREATE = {
  name: "volley_task_create",
  text: `
    insert into volley_task (id, version, ended, due_at, keep_until, head, sealed, owner, expires_at)
    select $1, $2::integer, $3::boolean, $4::bigint, $5::bigint, $6::jsonb, $7::bytea, $8, $9::bigint
    where (select count(*) from volley_task where owner = $8 and expires_at > $10::bigint and not ended) < $11::float8
    on conflict do nothing`,
};
const UPDATE = {
  name: "volley_task_update",
  text: `
    update volley_task set version = $3, ended = $4, due_at = $5, keep_until = $6, head = $7, sealed = $8
    where id = $1 and version = $2 and not ended`,
};

interface Row {
  readonly head: Omit<TaskRecord, "sealed">;
  readonly sealed: Buffer;
}

/** @param pool whose search path is the table's schema */
export function createPostgresStore(pool: Pool): TaskStore {
  const read = async (id: string): Promise<TaskRecord | undefined> => {
    const { rows } = await pool.query<Row>({ ...READ, values: [id] });
    return rows[0] && { ...rows[0].head, sealed: rows[0].sealed };
  };
  return {
    async create(record, most = Number.POSITIVE_INFINITY) {
      const { owner, expiresAt, createdAt } = record;
      const values = [...columns(record), owner, expiresAt, createdAt, most];
      const { rowCount } = await pool.query({ ...CREATE, values });
      return rowCount === 1 ? record : await read(record.id);
    },
    read,
    async update(id, version, record) {
      const [, ...values] = columns(record);
      const { rowCount } = await pool.query({ ...UPDATE, values: [id, version, ...values] });
      return rowCount === 1;
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

function columns(record: TaskRecord): unknown[] {
  const { sealed, ...head } = record;
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const { id, version, status, keepUntil } = record;
  return [id, version, isTerminal(status), dueAt(record), keepUntil, JSON.stringify(head), bytes];
}
