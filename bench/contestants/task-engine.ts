import type { TaskEngine } from "volley-mcp/tasks";
import { createBullPostgresEngine } from "volley-mcp/tasks/bullmq-postgres";
import { createBullRedisEngine } from "volley-mcp/tasks/bullmq-redis";
import { createSqliteEngine } from "volley-mcp/tasks/sqlite";

/** What a contestant that works on a store is started with. */
export interface EngineOptions {
  readonly engine: "sqlite" | "redis" | "postgres";
  /** The store's file or URL. */
  readonly location: string;
}

export function engineOptions(): EngineOptions {
  return JSON.parse(process.argv[2] ?? '{"engine":"sqlite","location":":memory:"}') as EngineOptions;
}

/** How often an engine was called; each call is one command to its store, but for what BullMQ does for a wake-up. */
export interface EngineCalls {
  reads: number;
  writes: number;
  wakes: number;
}

export async function openEngine({ engine, location }: EngineOptions): Promise<TaskEngine> {
  switch (engine) {
    case "sqlite":
      return createSqliteEngine({ path: location });
    case "redis":
      return await createBullRedisEngine({ connection: location });
    case "postgres":
      return await createBullPostgresEngine({ connection: location });
  }
}

/** The same engine, whose calls are counted; sweeps are not. */
export function counted(inner: TaskEngine, calls: EngineCalls): TaskEngine {
  const { store, waker } = inner;
  const count = <A extends unknown[], R>(kind: keyof EngineCalls, call: (...args: A) => R): ((...args: A) => R) => {
    return (...args) => {
      calls[kind] += 1;
      return call(...args);
    };
  };
  return {
    store: {
      ...store,
      create: count("writes", store.create),
      read: count("reads", store.read),
      update: count("writes", store.update),
    },
    waker: { ...waker, wake: count("wakes", waker.wake) },
    close: () => inner.close(),
  };
}
