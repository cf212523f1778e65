import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Redis } from "ioredis";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { connect } from "../../src/client.ts";
import { createServer, type Quota, type RateLimiter, type ServerOptions } from "../../src/index.ts";
import { createRateLimiter, type RateLimiterOptions } from "../../src/limits.ts";
import { nodeHandler } from "../../src/node.ts";
import { startPostgres } from "../support/postgres.ts";
import { mayRun, type PrivateServer } from "../support/private-server.ts";
import { startRedis } from "../support/redis.ts";

const QUOTA: Quota = { name: "calls", points: 3, windowMs: 60_000 };

const closing: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function limiter(options: RateLimiterOptions): Promise<RateLimiter> {
  const made = await createRateLimiter(options);
  closing.push(() => made.close?.());
  return made;
}

/** A server with one tool, and what a call of it comes to: its text, or status, code and Retry-After. */
async function serve(options: Partial<ServerOptions>): Promise<() => Promise<unknown>> {
  const server = createServer({ name: "shop", version: "1.0.0", singleInstance: true, ...options });
  server.tool("hello", {}, () => "Hello.");
  const http = createHttpServer(nodeHandler(server)).listen(0, "127.0.0.1");
  await vi.waitFor(() => expect(http.listening).toBe(true));
  const client = await connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, {});
  closing.push(
    async () => http.close(),
    () => client.close(),
  );
  return async () => {
    try {
      return (await client.callTool("hello", {}, { timeoutMs: 1_000 })).content[0];
    } catch (error) {
      return (error as { code: unknown }).code;
    }
  };
}

const stores = [
  ["Redis", "redis-server", startRedis, (url: string): RateLimiterOptions => ({ url })],
  ["Postgres", "initdb", startPostgres, (url: string): RateLimiterOptions => ({ connectionString: url })],
] as const;

describe.each(stores)("rate limits in %s", (_name, program, start, at) => {
  let store: PrivateServer | undefined;
  beforeAll(async () => {
    if (mayRun(program)) store = await start();
  }, 60_000);
  afterAll(() => store?.remove());

  test.runIf(mayRun(program))("S23: instances count together, each caller for itself", async () => {
    const { url } = store as PrivateServer;
    const [one, two] = [await limiter(at(url)), await limiter(at(url))];
    expect([await one.take(QUOTA, "ada"), await two.take(QUOTA, "ada"), await one.take(QUOTA, "ada")]).toEqual([
      0, 0, 0,
    ]);
    const wait = await two.take(QUOTA, "ada");
    expect(wait).toBeGreaterThan(50_000);
    expect(wait).toBeLessThanOrEqual(60_000);
    expect(await two.take(QUOTA, "bob")).toBe(0);
    expect(await two.take({ ...QUOTA, name: "effects" }, "ada")).toBe(0);
  });

  test.runIf(mayRun(program))("S23: two servers share one allowance of anonymous callers", async () => {
    const { url } = store as PrivateServer;
    const limits = { anonymousCallsPerMinute: 2 };
    const one = await serve({ limits, rateLimiter: await limiter({ ...at(url), prefix: "shop" }) });
    const two = await serve({ limits, rateLimiter: await limiter({ ...at(url), prefix: "shop" }) });
    const hello = { type: "text", text: "Hello." };
    expect([await one(), await two(), await one(), await two()]).toEqual([hello, hello, 42900, 42900]);
  });

  test.runIf(mayRun(program))(
    "while the store is away each instance counts for itself, within the time given",
    async () => {
      const { url, kill, start: startAgain } = store as PrivateServer;
      const [one, two] = [await limiter({ ...at(url), prefix: "away" }), await limiter({ ...at(url), prefix: "away" })];
      await one.take(QUOTA, "ada");
      await kill();
      const began = performance.now();
      for (const instance of [one, two]) {
        const waits: number[] = [];
        for (let n = 0; n < 4; n++) waits.push(Math.sign(await instance.take(QUOTA, "ada")));
        expect(waits).toEqual([0, 0, 0, 1]);
      }
      expect(performance.now() - began).toBeLessThan(8 * 500);
      await startAgain();
      await vi.waitFor(async () => expect(await one.take({ ...QUOTA, name: "again" }, "ada")).toBe(0));
    },
  );
});

describe.runIf(mayRun("redis-server"))("rate limits and their clients", () => {
  let store: PrivateServer;
  beforeAll(async () => {
    store = await startRedis();
  });
  afterAll(() => store?.remove());

  test("a client that was given is used and stays open; nothing says who was counted", async () => {
    const client = new Redis(store.url);
    closing.push(async () => client.disconnect());
    const given = await createRateLimiter({ client, prefix: "given" });
    await given.take(QUOTA, "ada");
    await given.close?.();
    const [key = "", ...more] = await client.keys("*");
    expect(more).toEqual([]);
    expect(key).toMatch(/^given:limit:calls:[\w-]{43}$/);
    expect(key).not.toContain("ada");
  });

  test("a store that is not there is an error at the start", async () => {
    await expect(createRateLimiter({ url: "redis://127.0.0.1:1" })).rejects.toThrow();
    await expect(createRateLimiter({ connectionString: "postgres://127.0.0.1:1/x" })).rejects.toThrow();
  });

  test("a prefix that is no name is refused", async () => {
    const pool = new pg.Pool();
    await expect(createRateLimiter({ pool, prefix: 'x"; drop table y; --' })).rejects.toMatchObject({
      code: "invalid_options",
    });
  });
});
