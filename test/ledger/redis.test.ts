import { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Claim, Ledger } from "../../src/ledger/ledger.ts";
import { createRedisLedger } from "../../src/ledger/redis.ts";
import { freePort, mayRun, type PrivateServer } from "../support/private-server.ts";
import { startRedis } from "../support/redis.ts";
import { contract } from "./contract.ts";
import { openStore } from "./stores.ts";

const hasRedis = mayRun("redis-server");

const claim = (row: string): Claim => {
  const minute = Date.now() + 60_000;
  return { row, name: "pay", owner: "one", answers: {}, deadline: minute, keepUntil: minute, leaseMs: 10_000 };
};

describe.runIf(hasRedis)("S9, X5, case 36: the contract of ledgers, in Redis", () => {
  contract(async () => {
    const server = await startRedis();
    return {
      open: ({ timeoutMs } = {}) => openStore("redis", server.url, timeoutMs),
      elsewhere: { kind: "redis", location: server.url },
      outage: { begin: () => server.kill(), end: () => server.start() },
      // Redis clears away by itself, when it finds the time.
      count: undefined,
      remove: () => server.remove(),
    };
  });
});

describe.runIf(hasRedis)("Redis as it is set up", () => {
  let server: PrivateServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
  }, 30_000);
  afterAll(async () => {
    client.disconnect();
    await server.remove();
  });

  test.each(["allkeys-lru", "volatile-ttl"])(
    "a server that may forget keys (%s) is refused at the start",
    async (policy) => {
      await client.config("SET", "maxmemory-policy", policy);
      const refused = expect.objectContaining({
        code: "invalid_options",
        message: expect.stringMatching(
          `maxmemory-policy "${policy}", so it may forget .* Set .maxmemory-policy noeviction`,
        ),
      });
      await expect(createRedisLedger({ client })).rejects.toThrow(refused);
      await expect(createRedisLedger({ url: server.url })).rejects.toThrow(refused);
      await client.config("SET", "maxmemory-policy", "noeviction");
    },
  );

  test("a server whose memory is full refuses claims and forgets nothing", async () => {
    const ledger = await createRedisLedger({ client, prefix: "full:" });
    await ledger.claim(claim("before"));
    await client.config("SET", "maxmemory", "1");
    try {
      await expect(ledger.claim(claim("during"))).rejects.toThrow(/OOM/);
      expect(await ledger.claim({ ...claim("before"), owner: "two" })).toEqual({ status: "running" });
    } finally {
      await client.config("SET", "maxmemory", "0");
    }
    expect(await ledger.claim(claim("during"))).toEqual({ status: "claimed", epoch: 1 });
  });

  test("every row has its time, and no later one is forgotten", async () => {
    const ledger = await createRedisLedger({ client, prefix: "times:" });
    const minute = Date.now() + 60_000;
    await ledger.claim({ ...claim("r"), keepUntil: minute });
    expect(await client.pexpiretime("times:{r}")).toBe(minute);
    await ledger.claim({ ...claim("r"), keepUntil: minute + 1_000 });
    await ledger.claim({ ...claim("r"), keepUntil: minute });
    expect(await client.pexpiretime("times:{r}")).toBe(minute + 1_000);
  });

  test("a server that is not there is an error at the start", async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    await expect(createRedisLedger({ url, timeoutMs: 300 })).rejects.toThrow();
  });

  test("a client of its user stays open when the ledger is closed", async () => {
    const ledger = await createRedisLedger({ client });
    await ledger.close?.();
    expect(await client.ping()).toBe("PONG");
  });

  describe("a claim that is granted too late to be waited for", () => {
    let ledger: Ledger;
    const tooLate = async (mine: Claim): Promise<void> => {
      await client.call("CLIENT", "PAUSE", "1500", "ALL");
      await expect(ledger.claim(mine)).rejects.toThrow("did not answer within 1000 ms");
    };
    beforeAll(async () => {
      ledger = await createRedisLedger({ url: server.url, timeoutMs: 1_000 });
    });
    afterAll(() => ledger.close?.());

    test("is given back", async () => {
      await tooLate(claim("late"));
      const next = (): Promise<string> => ledger.claim({ ...claim("late"), owner: "two" }).then(({ status }) => status);
      await expect.poll(() => next().catch(String), { timeout: 10_000 }).toBe("claimed");
    });

    test("X5: leaves in doubt what it took over, or the effect would begin a second time", async () => {
      const first = claim("late heir");
      await ledger.claim(first);
      await ledger.doubt({ ...first, epoch: 1 });
      await tooLate({ ...first, owner: "two", takeOver: true });
      const statuses: string[] = [];
      const next = async (): Promise<string | undefined> => {
        const { status } = await ledger.claim({ ...first, owner: "three" }).catch(() => ({ status: "no answer" }));
        statuses.push(status);
        return status === "no answer" || status === "running" ? undefined : status;
      };
      await expect.poll(next, { timeout: 10_000 }).toBe("in_doubt");
      const heir = { ...first, owner: "three", takeOver: true };
      await expect.poll(() => ledger.claim(heir), { timeout: 10_000 }).toEqual({ status: "claimed", epoch: 3 });
      expect(statuses).not.toContain("claimed");
    });
  });
});

describe.runIf(hasRedis)("Redis Cluster", () => {
  test("keys of one row lie in one slot, and scripts find their server", { timeout: 30_000 }, async () => {
    const ports = [await freePort(), await freePort()];
    const servers = await Promise.all(
      ports.map((port) => startRedis(["--cluster-enabled", "yes", "--cluster-port", String(port)])),
    );
    const clients = servers.map(({ url }) => new Redis(url));
    const [one, two] = clients as [Redis, Redis];
    await one.call("CLUSTER", "ADDSLOTSRANGE", "0", "8191");
    await two.call("CLUSTER", "ADDSLOTSRANGE", "8192", "16383");
    const address = new URL(servers[1]?.url ?? "");
    await one.call("CLUSTER", "MEET", "127.0.0.1", address.port, String(ports[1]));
    await expect.poll(async () => `${await two.call("CLUSTER", "INFO")}`, { timeout: 20_000 }).toContain("state:ok");
    const start = servers.map(({ url }) => ({ host: "127.0.0.1", port: Number(new URL(url).port) }));
    const cluster = new Cluster(start);
    const ledger = await createRedisLedger({ client: cluster });
    for (let row = 0; row < 50; row += 1) {
      expect(await ledger.claim(claim(`row-${row}`))).toEqual({ status: "claimed", epoch: 1 });
      const hold = { row: `row-${row}`, name: "pay", owner: "one", epoch: 1 };
      expect(await ledger.settle(hold, { failed: false, value: new Uint8Array([1]) })).toBe(true);
    }
    const sizes = await Promise.all(clients.map((client) => client.dbsize()));
    expect(sizes.every((size) => size > 5)).toBe(true);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(50);

    await two.config("SET", "maxmemory-policy", "allkeys-lru");
    await expect(createRedisLedger({ client: cluster })).rejects.toThrow('maxmemory-policy "allkeys-lru"');
    cluster.disconnect();
    for (const client of clients) client.disconnect();
    await Promise.all(servers.map((server) => server.remove()));
  });
});
