import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBullPostgresEngine } from "../../src/tasks/bullmq-postgres.ts";
import { startPostgres } from "../support/postgres.ts";
import { mayRun, type PrivateServer } from "../support/private-server.ts";
import { describeEngine, headOf, newRecord } from "./contract.ts";
import { expectFaultTraced } from "./store-away.ts";

describe.runIf(mayRun("initdb"))("tasks in Postgres", () => {
  let server: PrivateServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ connectionString: server.url, max: 2 });
    pool.on("error", () => undefined);
  }, 60_000);
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  describeEngine("bullmq-postgres", () => createBullPostgresEngine({ connection: server.url }));

  test("many processes may make the tables at once", async () => {
    const open = () =>
      createBullPostgresEngine({ connection: { connectionString: server.url, max: 1 }, schema: "at_once" });
    const engines = await Promise.all(Array.from({ length: 6 }, open));
    const record = newRecord();
    const told = await Promise.all(engines.map(({ store }) => store.create(record)));
    expect(told.map((task) => task?.id)).toEqual(engines.map(() => record.id));
    await Promise.all(engines.map((engine) => engine.close()));
  });

  test("a user without the right to make tables uses what another made", async () => {
    const schema = "made_before";
    await (await createBullPostgresEngine({ connection: server.url, schema })).close();
    await pool.query(`create role plain login`);
    await pool.query(`grant usage on schema ${schema} to plain`);
    await pool.query(`grant select, insert, update, delete on all tables in schema ${schema} to plain`);
    await pool.query(`grant usage, select on all sequences in schema ${schema} to plain`);
    const connection = { connectionString: server.url.replace("volley@", "plain@") };
    const engine = await createBullPostgresEngine({ connection, schema });
    const record = newRecord();
    await engine.store.create(record);
    let take!: (id: string) => void;
    const taken = new Promise<string>((resolve) => {
      take = resolve;
    });
    const loop = await engine.waker.work(async (id) => take(id), { concurrency: 1 });
    await engine.waker.wake(record.id);
    expect(await taken).toBe(record.id);
    await loop.close(1_000);
    await engine.close();
  });

  test("case 44: what was acknowledged is there after Postgres was killed", async () => {
    const engine = await createBullPostgresEngine({ connection: server.url });
    const record = newRecord({ wakeAt: 7 });
    await engine.store.create(record);
    expect(await engine.store.update(record.id, 1, headOf(record, { version: 2 }))).toBe(true);
    await server.kill();
    await server.start();
    expect((await engine.store.read(record.id))?.version).toBe(2);
    expect(await engine.store.due(10, 10)).toContain(record.id);
    await engine.close();
  });

  test("while Postgres is away the trace says so; when it is back, tasks are taken again", {
    timeout: 60_000,
  }, async () => {
    await expectFaultTraced(server, await createBullPostgresEngine({ connection: server.url, schema: "away" }));
  });

  test("a schema that is no name is refused", async () => {
    await expect(createBullPostgresEngine({ connection: server.url, schema: 'a"; drop' })).rejects.toThrow(/schema/);
  });
});
