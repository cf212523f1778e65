// The store of a run: where it is, how it is hurt, and what it holds.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { Client } from "pg";
import { createSqliteLedger } from "../../src/ledger/sqlite.ts";
import type { StoreKind } from "../ledger/stores.ts";
import { startPostgres } from "../support/postgres.ts";
import type { PrivateServer } from "../support/private-server.ts";
import { startRedis } from "../support/redis.ts";

export interface FleetStore {
  readonly location: string;
  /** How many rows there are. */
  rows(): Promise<number>;
  /** Takes it away for so long, as its operator or as a crash would. */
  interrupt(how: "stop" | "kill", downMs: number): Promise<void>;
  remove(): Promise<void>;
}

export async function startStore(kind: StoreKind, folder: string): Promise<FleetStore> {
  switch (kind) {
    case "sqlite":
      return sqliteStore(join(folder, "ledger.db"));
    case "redis": {
      const server = await startRedis();
      return {
        ...interruptible(server),
        async rows() {
          const client = new Redis(server.url);
          try {
            return await client.dbsize();
          } finally {
            client.disconnect();
          }
        },
      };
    }
    case "postgres": {
      const server = await startPostgres();
      return {
        ...interruptible(server),
        async rows() {
          const client = new Client({ connectionString: server.url });
          await client.connect();
          try {
            const { rows } = await client.query("select count(*)::int as rows from volley_ledger");
            return (rows[0] as { readonly rows: number }).rows;
          } finally {
            await client.end();
          }
        },
      };
    }
  }
}

function interruptible(server: PrivateServer): Omit<FleetStore, "rows"> {
  return {
    location: server.url,
    async interrupt(how, downMs) {
      await server[how]();
      await sleep(downMs);
      await server.start();
    },
    remove: () => server.remove(),
  };
}

/** A file has no process to kill: somebody else holds it instead. */
async function sqliteStore(location: string): Promise<FleetStore> {
  // Its tables, before anybody counts.
  await createSqliteLedger({ path: location }).close?.();
  const db = new DatabaseSync(location);
  db.exec("pragma busy_timeout = 30000");
  return {
    location,
    rows: async () => Number(db.prepare("select count(*) as rows from volley_row").get()?.rows),
    async interrupt(_how, downMs) {
      db.exec("begin immediate");
      await sleep(downMs);
      db.exec("rollback");
    },
    remove: async () => db.close(),
  };
}
