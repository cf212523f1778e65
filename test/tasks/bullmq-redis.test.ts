import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBullRedisEngine } from "../../src/tasks/bullmq-redis.ts";
import { mayRun, type PrivateServer } from "../support/private-server.ts";
import { startRedis } from "../support/redis.ts";
import { describeEngine, headOf, newRecord } from "./contract.ts";
import { expectFaultTraced } from "./store-away.ts";

describe.runIf(mayRun("redis-server"))("tasks in Redis", () => {
  let server: PrivateServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
    client.on("error", () => undefined);
  });
  afterAll(async () => {
    client.disconnect();
    await server.remove();
  });

  describeEngine("bullmq-redis", () => createBullRedisEngine({ connection: server.url }));

  test("all keys are in one slot of a cluster, and those of tasks end by themselves", async () => {
    const engine = await createBullRedisEngine({ connection: client, prefix: "slots" });
    const keepUntil = Date.now() + 60_000;
    const record = newRecord({ keepUntil, wakeAt: 1 });
    await engine.store.create(record);
    await engine.waker.wake(record.id);
    const keys = await client.keys("*slots*");
    expect(keys.filter((key) => !key.startsWith("{slots}:"))).toEqual([]);
    expect(keys).toContain(`{slots}:task:${record.id}`);
    const left = (await client.pttl(`{slots}:task:${record.id}`)) - 60_000;
    expect(left).toBeGreaterThan(3_500_000);
    expect(left).toBeLessThanOrEqual(3_600_000);
    await engine.close();
    // It is ours: it still works.
    expect(await client.ping()).toBe("PONG");
  });

  test("case 44: what was acknowledged is there after Redis was killed", async () => {
    const engine = await createBullRedisEngine({ connection: server.url, prefix: "killed" });
    const record = newRecord({ wakeAt: 7 });
    await engine.store.create(record);
    expect(await engine.store.update(record.id, 1, headOf(record, { version: 2 }))).toBe(true);
    await server.kill();
    await server.start();
    expect((await engine.store.read(record.id))?.version).toBe(2);
    expect(await engine.store.due(10, 10)).toEqual([record.id]);
    await engine.close();
  });

  test("while Redis is away the trace says so; when it is back, tasks are taken again", {
    timeout: 60_000,
  }, async () => {
    await expectFaultTraced(server, await createBullRedisEngine({ connection: server.url, prefix: "away" }));
  });

  test("a Redis that may forget keys, and a prefix that is none, are refused", async () => {
    await client.config("SET", "maxmemory-policy", "allkeys-lru");
    await expect(createBullRedisEngine({ connection: server.url })).rejects.toThrow(/"allkeys-lru".*noeviction/);
    await client.config("SET", "maxmemory-policy", "noeviction");
    await expect(createBullRedisEngine({ connection: client, prefix: "{a}" })).rejects.toThrow(/prefix/);
  });
});
