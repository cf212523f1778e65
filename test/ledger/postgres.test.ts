import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Claim } from "../../src/ledger/ledger.ts";
import { createPostgresLedger } from "../../src/ledger/postgres.ts";
import { startPostgres } from "../support/postgres.ts";
import { freePort, mayRun, type PrivateServer } from "../support/private-server.ts";
import { contract } from "./contract.ts";
import { openStore } from "./stores.ts";

const hasPostgres = mayRun("initdb");

describe.runIf(hasPostgres)("S9, X5, case 36: the contract of ledgers, in Postgres", () => {
  contract(async () => {
    const server = await startPostgres();
    const pool = new Pool({ connectionString: server.url });
    pool.on("error", () => {});
    return {
      async open({ timeoutMs } = {}) {
        if (timeoutMs !== undefined) return await openStore("postgres", server.url, timeoutMs);
        // Few connections each: what 64 callers wait for is one row, and two processors are enough for that.
        const own = new Pool({ connectionString: server.url, max: 2 });
        own.on("error", () => {});
        return { ...(await createPostgresLedger({ pool: own })), close: () => own.end() };
      },
      elsewhere: { kind: "postgres", location: server.url },
      outage: { begin: () => server.kill(), end: () => server.start() },
      count: async () => Number((await pool.query("select count(*) from volley_ledger")).rows[0].count),
      async remove() {
        await pool.end();
        await server.remove();
      },
    };
  });
});

describe.runIf(hasPostgres)("Postgres as it is set up", () => {
  let server: PrivateServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ connectionString: server.url });
  }, 60_000);
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });
  const claim = (owner: string, row = "r"): Claim => {
    const minute = Date.now() + 60_000;
    return { row, name: "pay", owner, answers: {}, deadline: minute, keepUntil: minute, leaseMs: 10_000 };
  };

  test("many processes may make the table at once", async () => {
    const connectionString = server.url;
    const ledgers = await Promise.all(
      Array.from({ length: 12 }, () => createPostgresLedger({ connectionString, table: "at_once" })),
    );
    const results = await Promise.all(ledgers.map((ledger, index) => ledger.claim(claim(`${index}`))));
    expect(results.filter(({ status }) => status === "claimed")).toHaveLength(1);
    await Promise.all(ledgers.map((ledger) => ledger.close?.()));
  });

  test("a user without the right to make tables uses what another made, in a schema", async () => {
    await pool.query("create schema effects; create role clerk login; grant usage on schema effects to clerk");
    const url = new URL(server.url);
    url.username = "clerk";
    const clerk = { connectionString: url.href, table: "effects.ledger", timeoutMs: 1_000 };
    await expect(createPostgresLedger(clerk)).rejects.toThrow(/permission denied/);
    await createPostgresLedger({ pool, table: "effects.ledger" });
    await pool.query("grant select, insert, update, delete on effects.ledger to clerk");
    const ledger = await createPostgresLedger(clerk);
    expect(await ledger.claim(claim("one"))).toEqual({ status: "claimed", epoch: 1 });
    await ledger.close?.();
  });

  test("the strictest default isolation changes nothing", async () => {
    const url = new URL(server.url);
    url.searchParams.set("options", "-c default_transaction_isolation=serializable");
    const ledger = await createPostgresLedger({ connectionString: url.href, table: "strict" });
    for (let id = 0; id < 5; id += 1) {
      const callers = Array.from({ length: 10 }, (_, index) => claim(`${index}`, `strict-${id}`));
      const results = await Promise.all(callers.map((each) => ledger.claim(each)));
      expect(results.filter(({ status }) => status === "claimed")).toHaveLength(1);
    }
    await ledger.close?.();
  });

  test.each(["Ledger", "led-ger", "a.b.c", "x; drop table y", "x".repeat(41), ""])(
    "the table %j is refused",
    async (table) => {
      await expect(createPostgresLedger({ pool, table })).rejects.toMatchObject({ code: "invalid_options" });
    },
  );

  test("a database that is not there is an error at the start", async () => {
    const connectionString = `postgres://volley@127.0.0.1:${await freePort()}/postgres`;
    await expect(createPostgresLedger({ connectionString, timeoutMs: 300 })).rejects.toThrow();
  });

  test("a pool of its user stays open when the ledger is closed", async () => {
    const ledger = await createPostgresLedger({ pool });
    await ledger.close?.();
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });
});
