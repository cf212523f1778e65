// How a store is opened by its kind, for the processes that the contract starts.
import type { Ledger } from "../../src/ledger/ledger.ts";
import { createPostgresLedger } from "../../src/ledger/postgres.ts";
import { createRedisLedger } from "../../src/ledger/redis.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite.ts";

export type StoreKind = "sqlite" | "redis" | "postgres";

/** Opens a store where it is: a file or a URL. */
export async function openStore(kind: StoreKind, location: string, timeoutMs?: number): Promise<Ledger> {
  const more = timeoutMs === undefined ? {} : { timeoutMs };
  switch (kind) {
    case "sqlite":
      return createSqliteLedger({ path: location, ...more });
    case "redis":
      return await createRedisLedger({ url: location, ...more });
    case "postgres":
      return await createPostgresLedger({ connectionString: location, ...more });
  }
}
