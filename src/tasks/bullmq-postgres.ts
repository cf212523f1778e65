// volley-mcp/tasks/bullmq-postgres: tasks in PostgreSQL, woken by BullMQ, for any number of machines.
import type { PostgresConnectionOptions, PostgresPoolConfig } from "bullmq";
import type { Pool, PoolConfig } from "pg";
import { checkOptions, needOption, type OptionNames, VolleyError } from "../protocol/index.ts";
import { createBullWaker, QUEUE } from "./bull-waker.ts";
import type { TaskEngine } from "./engine.ts";
import { createFaults } from "./faults.ts";
import { createPostgresStore, TASK_TABLE_SQL } from "./postgres-store.ts";

export interface BullPostgresEngineOptions {
  /**
   * Where the database is, as `postgres://`, or what the package `pg` takes for a pool. A server uses up to `max` + 2
   * connections (`max` is 10 by default), a worker up to 5 more.
   */
  readonly connection: string | PoolConfig;
  /** The schema that holds all tables, those of BullMQ too. Default `"volley_tasks"`. */
  readonly schema?: string;
}

/** How long a call waits for a connection or an answer. */
const TIMEOUT_MS = 5_000;

const OPTIONS: OptionNames<BullPostgresEngineOptions> = { connection: true, schema: true };

/**
 * A {@link TaskEngine} in PostgreSQL 14 or newer: one row a task, changed by compare-and-set, and a BullMQ queue that
 * brings tasks to workers.
 *
 * What is missing of the schema and its tables is made when the engine is; many processes may start at once. A user that
 * may not make tables needs them made before, by one that may.
 *
 * Needs the packages `bullmq` and `pg`, and connections that keep their session: no pooler in transaction mode. Keep
 * `synchronous_commit` on, and with fail-over a synchronous standby: without one, what was acknowledged last can be lost.
 *
 * @throws VolleyError `invalid_options` for a schema that is no name; whatever pg throws when the database is not there
 * @example
 * ```ts
 * import { createServer } from "volley-mcp";
 * import { createTasks, createWorker } from "volley-mcp/tasks";
 * import { createBullPostgresEngine } from "volley-mcp/tasks/bullmq-postgres";
 * const engine = await createBullPostgresEngine({ connection: "postgres://volley@db.internal/builds" });
 * const server = createServer({ name: "builds", version: "1.0.0", audience: "https://builds.example/mcp", tasks: createTasks({ engine }) });
 * const worker = await createWorker(server, { engine });
 * ```
 */
export async function createBullPostgresEngine(options: BullPostgresEngineOptions): Promise<TaskEngine> {
  checkOptions("createBullPostgresEngine", options, OPTIONS);
  needOption("createBullPostgresEngine", options, "connection");
  const { connection, schema = "volley_tasks" } = options;
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) {
    throw new VolleyError(
      "invalid_options",
      `createBullPostgresEngine: the schema "${schema}" must be a name of lower-case letters, digits and _, at most 40 long.`,
    );
  }
  const { createPostgresBackend, withBackend } = await import("bullmq");
  const { Pool } = await import("pg");
  const config: PoolConfig = {
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    keepAlive: true,
    ...(typeof connection === "string" ? { connectionString: connection } : connection),
  };
  const path = `-c search_path=${schema}`;
  const pool = new Pool({ ...config, options: config.options === undefined ? path : `${config.options} ${path}` });
  const faults = createFaults();
  // Connections that break while nobody uses them are replaced; without a listener they would end the process.
  pool.on("error", faults.tell);
  try {
    await migrate(pool, schema);
  } catch (error) {
    await pool.end();
    throw error;
  }
  // BullMQ has pools of its own, since it sets their search path, and a connection to listen on.
  const { Queue, Worker } = withBackend(createPostgresBackend);
  const connectionOf = (max: number): PostgresConnectionOptions => ({ ...config, schema, max }) as PostgresPoolConfig;
  const queue = new Queue(QUEUE, {
    connection: connectionOf(2),
    streams: { events: { maxLen: 100 } },
  });
  queue.on("error", faults.tell);

  const waker = createBullWaker(queue, (take, settings) => {
    const worker = new Worker(QUEUE, take, { connection: connectionOf(4), ...settings });
    worker.on("error", faults.tell);
    return { worker, close: async () => undefined };
  });

  return {
    store: createPostgresStore(pool),
    waker,
    onFault: faults.listen,
    async close() {
      await queue.close();
      await pool.end();
    },
  };
}

/** Makes what is missing, and touches nothing when nothing is. */
async function migrate(pool: Pool, schema: string): Promise<void> {
  const { LATEST_SCHEMA_VERSION, SchemaMigrationRequiredError, assertSchemaCompatibility, runMigrations } =
    await import("bullmq");
  const client = await pool.connect();
  try {
    const there = await assertSchemaCompatibility(client, schema).catch((error: unknown) => {
      if (error instanceof SchemaMigrationRequiredError) return 0;
      throw error;
    });
    if (there < LATEST_SCHEMA_VERSION) await runMigrations(client, schema);
    const { rows } = await client.query<{ readonly there: boolean }>("select to_regclass($1) is not null as there", [
      `${schema}.volley_task_appended`,
    ]);
    if (rows[0]?.there === true) return;
    // As one simple query it is one transaction. The first id of a job makes its sequence, which not every user may.
    await client.query(`
      set local search_path to ${schema};
      select pg_advisory_xact_lock(hashtextextended('volley-mcp ${schema}.volley_task', 0));
      select next_job_id('${QUEUE}');
      ${TASK_TABLE_SQL}`);
  } finally {
    client.release();
  }
}
