// How an engine is opened by its kind, for tests that start processes.
import { createBullPostgresEngine } from "../../src/tasks/bullmq-postgres.ts";
import { createBullRedisEngine } from "../../src/tasks/bullmq-redis.ts";
import { createSqliteEngine } from "../../src/tasks/sqlite.ts";
import type { TaskEngine } from "../../src/tasks.ts";

export type EngineKind = "sqlite" | "redis" | "postgres";

/** Opens an engine where it is: a file or a URL. */
export async function openEngine(kind: EngineKind, location: string): Promise<TaskEngine> {
  switch (kind) {
    case "sqlite":
      return createSqliteEngine({ path: location });
    case "redis":
      return await createBullRedisEngine({ connection: location });
    case "postgres":
      return await createBullPostgresEngine({ connection: location });
  }
}
