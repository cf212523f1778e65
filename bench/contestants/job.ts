/**
 * What tasks are held against: one bare BullMQ job a task, added, processed and completed, on the same Redis or Postgres;
 * or one bare SQLite transaction for each state of a task. Nobody asks, nothing is sealed, there is no HTTP.
 *
 * It answers `{ ms }` with how many tasks a second it did and at what cost.
 */
import { DatabaseSync } from "node:sqlite";
import { createPostgresBackend, Queue, runMigrations, Worker, withBackend } from "bullmq";
import { Redis } from "ioredis";
import { Pool } from "pg";
import type { Sample } from "../lib/stats.ts";
import { type EngineOptions, engineOptions } from "./task-engine.ts";
import { text } from "./tools.ts";

interface Job {
  readonly id: number;
}

/** Does one whole task and returns its result. */
type Floor = (job: Job) => Promise<string> | string;

const IN_FLIGHT = 16;
const QUEUE = "floor";
/** Made, taken, asked, answered, taken again, done. */
const STATES = ["made", "taken", "asked", "answered", "taken", "done"];
/** As much as is sealed of a task in this benchmark. */
const SEALED = Buffer.alloc(900, 1);

const floor = await open(engineOptions());
let lastId = 0;

process.on("message", ({ ms }: { ms: number }) => void run(ms).then((sample) => process.send?.(sample)));
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });

async function run(ms: number): Promise<Sample> {
  const cpu = process.cpuUsage();
  const begin = performance.now();
  let done = 0;
  const one = async (): Promise<void> => {
    while (performance.now() - begin < ms) {
      lastId += 1;
      const id = lastId;
      const result = await floor({ id });
      if (result !== text.closed(id, "Duplicate")) throw new Error(`got "${result}" for #${id}`);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  const { user, system } = process.cpuUsage(cpu);
  return { rate: (done / (performance.now() - begin)) * 1000, cpu: (user + system) / done };
}

async function open({ engine, location }: EngineOptions): Promise<Floor> {
  switch (engine) {
    case "sqlite":
      return transactions(location);
    case "redis": {
      const connect = (): Redis => new Redis(location, { maxRetriesPerRequest: null });
      const queue = new Queue<Job>(QUEUE, { connection: connect() });
      const worker = new Worker<Job, string>(QUEUE, work, { connection: connect(), concurrency: IN_FLIGHT });
      return jobs(queue, worker);
    }
    case "postgres": {
      const connection = { connectionString: location, schema: QUEUE };
      const pool = new Pool({ connectionString: location });
      await runMigrations(pool, QUEUE);
      await pool.end();
      const bull = withBackend(createPostgresBackend);
      const queue = new bull.Queue<Job>(QUEUE, { connection });
      const worker = new bull.Worker<Job, string>(QUEUE, work, { connection, concurrency: IN_FLIGHT });
      return jobs(queue, worker);
    }
  }
}

async function work({ data }: { readonly data: Job }): Promise<string> {
  return text.closed(data.id, "Duplicate");
}

/** What both kinds of queues and workers have. */
interface BullQueue {
  add(name: "work", data: Job, options: object): Promise<unknown>;
}
interface BullWorker {
  on(event: "completed", listener: (job: { readonly data: Job }, result: string) => void): unknown;
}

function jobs(queue: BullQueue, worker: BullWorker): Floor {
  const waiting = new Map<number, (result: string) => void>();
  worker.on("completed", ({ data }, result) => {
    waiting.get(data.id)?.(result);
    waiting.delete(data.id);
  });
  return async (job) => {
    const result = new Promise<string>((resolve) => void waiting.set(job.id, resolve));
    await queue.add("work", job, { removeOnComplete: true, removeOnFail: true });
    return await result;
  };
}

function transactions(path: string): Floor {
  const db = new DatabaseSync(path);
  db.exec("pragma journal_mode = wal; pragma synchronous = full");
  db.exec("create table task (id integer primary key, state text not null, sealed blob not null) strict");
  const insert = db.prepare("insert into task values (?, ?, ?)");
  const update = db.prepare("update task set state = ?, sealed = ? where id = ?");
  const read = db.prepare("select state from task where id = ?");
  return ({ id }) => {
    for (const state of STATES) {
      if (state === "made") insert.run(id, state, SEALED);
      else update.run(state === "done" ? text.closed(id, "Duplicate") : state, SEALED, id);
    }
    return String(read.get(id)?.state);
  };
}
