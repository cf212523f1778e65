// volley-mcp/tasks/bullmq-redis: tasks in Redis or Valkey, woken by BullMQ, for any number of machines.
import type { Cluster, ClusterOptions, Redis } from "ioredis";
import { checkOptions, needOption, type OptionNames, VolleyError } from "../protocol/index.ts";
import { refuseEviction } from "../stores/index.ts";
import { createBullWaker, QUEUE } from "./bull-waker.ts";
import type { TaskEngine } from "./engine.ts";
import { createFaults } from "./faults.ts";
import { createRedisStore } from "./redis-store.ts";

export interface BullRedisEngineOptions {
  /**
   * Where Redis is, as `redis://` or `rediss://`, or your own client, of one server or of a cluster; you close it. Further
   * connections are made like it.
   */
  readonly connection: string | Redis | Cluster;
  /** Keys begin with it. All are in one slot of a cluster. Default `"volley"`. */
  readonly prefix?: string;
}

const OPTIONS: OptionNames<BullRedisEngineOptions> = { connection: true, prefix: true };

/**
 * A {@link TaskEngine} in Redis 6.2 or newer, or Valkey: one hash a task, changed by compare-and-set, and a BullMQ queue
 * that brings tasks to workers.
 *
 * What Redis has acknowledged it can still lose: by a fail-over to a replica that had not heard of it, or by a crash
 * without `appendonly yes` and `appendfsync always`. A task whose last write was lost goes on from the one before, so a
 * step may run again; for what must not, use Postgres.
 *
 * Needs the packages `bullmq` and `ioredis`, and a server with `maxmemory-policy noeviction`.
 *
 * @throws VolleyError `invalid_options` for another eviction policy or prefix; whatever ioredis throws when Redis is not
 *   there
 * @example
 * ```ts
 * import { createServer } from "volley-mcp";
 * import { createTasks, createWorker } from "volley-mcp/tasks";
 * import { createBullRedisEngine } from "volley-mcp/tasks/bullmq-redis";
 * const engine = await createBullRedisEngine({ connection: "redis://redis.internal:6379" });
 * const server = createServer({ name: "builds", version: "1.0.0", audience: "https://builds.example/mcp", tasks: createTasks({ engine }) });
 * const worker = await createWorker(server, { engine });
 * ```
 */
export async function createBullRedisEngine(options: BullRedisEngineOptions): Promise<TaskEngine> {
  checkOptions("createBullRedisEngine", options, OPTIONS);
  needOption("createBullRedisEngine", options, "connection");
  const { connection, prefix = "volley" } = options;
  if (!/^[\w.:-]+$/.test(prefix)) {
    throw new VolleyError("invalid_options", "createBullRedisEngine: the prefix may have letters, digits and _ . : -");
  }
  const tag = `{${prefix}}`;
  const { Queue, Worker } = await import("bullmq");
  const faults = createFaults();
  const client = typeof connection === "string" ? await connect(connection) : connection;
  if (client !== connection) client.on("error", faults.tell);
  try {
    await refuseEviction(client, "createBullRedisEngine", "tasks");
  } catch (error) {
    if (client !== connection) client.disconnect();
    throw error;
  }
  // BullMQ puts its commands on the connections it gets.
  const queueClient = alike(client);
  const queue = new Queue(QUEUE, {
    connection: queueClient,
    prefix: tag,
    streams: { events: { maxLen: 100 } },
  });
  queue.on("error", faults.tell);

  const waker = createBullWaker(queue, (take, settings) => {
    const workerClient = alike(client, null);
    const worker = new Worker(QUEUE, take, { connection: workerClient, prefix: tag, ...settings });
    worker.on("error", faults.tell);
    return { worker, close: async () => workerClient.disconnect() };
  });

  return {
    store: createRedisStore(client, tag),
    waker,
    onFault: faults.listen,
    async close() {
      await queue.close();
      queueClient.disconnect();
      if (client !== connection) client.disconnect();
    },
  };
}

async function connect(url: string): Promise<Redis> {
  const { Redis } = await import("ioredis");
  return quiet(
    // Together: a call is tried again for some four seconds while the server is gone.
    new Redis(url, { maxRetriesPerRequest: 10, retryStrategy: (times) => Math.min(times * 50, 500) }),
  );
}

/** One more connection to the same place; a worker's waits as long as it takes (null). */
function alike(client: Redis | Cluster, maxRetriesPerRequest: null | 10 = 10): Redis | Cluster {
  if (!("nodes" in client && client.isCluster)) return quiet((client as Redis).duplicate({ maxRetriesPerRequest }));
  const redisOptions = { ...client.options.redisOptions, maxRetriesPerRequest } as ClusterOptions["redisOptions"];
  return quiet(client.duplicate(undefined, { redisOptions } as Parameters<Cluster["duplicate"]>[1]));
}

function quiet<T extends Redis | Cluster>(client: T): T {
  client.on("error", () => undefined);
  return client;
}
