/** One tool that does nothing but its work, and two that do it in `once`: for the first time, and when it was done before. */

import { createServer, type Ledger } from "volley-mcp";
import { createMemoryLedger } from "volley-mcp/ledger/memory";
import { createPostgresLedger } from "volley-mcp/ledger/postgres";
import { createRedisLedger } from "volley-mcp/ledger/redis";
import { createSqliteLedger } from "volley-mcp/ledger/sqlite";
import { nodeHandler } from "volley-mcp/node";
import { generateKey } from "volley-mcp/state";
import { listen } from "./serve.ts";

/** What this contestant is started with. */
export interface OnceOptions {
  readonly store: "memory" | "sqlite" | "redis" | "postgres";
  /** The store's file or URL. */
  readonly location: string;
}

const { store, location } = JSON.parse(process.argv[2] ?? '{"store":"memory"}') as OnceOptions;

/** How often the ledger was asked since the start; each call is one round trip to the store. */
let asked = 0;
const ledger = counted(await open());
const MANY = 1_000_000_000;
const server = createServer({
  name: "bench",
  version: "1.0.0",
  keys: [generateKey()],
  audience: "https://bench.example/mcp",
  singleInstance: true,
  limits: { anonymousCallsPerMinute: MANY, anonymousEffectsPerHour: MANY },
  ledger,
});

let ships = 0;
const keepFor = 60_000;
server.tool("plain", {}, () => "shipped");
server.tool("once", {}, (_args, ctx) =>
  ctx.once("ship", { key: `${process.pid}-${ships++}`, keepFor }, () => "shipped"),
);
server.tool("again", {}, (_args, ctx) => ctx.once("ship", { key: "always the same", keepFor }, () => "shipped"));
server.tool("asked", {}, () => String(asked));

listen(nodeHandler(server));

async function open(): Promise<Ledger> {
  switch (store) {
    case "memory":
      return createMemoryLedger();
    case "sqlite":
      return createSqliteLedger({ path: location });
    case "redis":
      return await createRedisLedger({ url: location });
    case "postgres":
      return await createPostgresLedger({ connectionString: location });
  }
}

function counted(inner: Ledger): Ledger {
  const count = <A extends unknown[], R>(call: (...args: A) => R): ((...args: A) => R) => {
    return (...args) => {
      asked += 1;
      return call(...args);
    };
  };
  return {
    shared: inner.shared,
    claim: count(inner.claim),
    renew: count(inner.renew),
    settle: count(inner.settle),
    release: count(inner.release),
    doubt: count(inner.doubt),
  };
}
