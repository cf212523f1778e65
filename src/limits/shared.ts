import { createHash } from "node:crypto";
import type { Cluster, Redis } from "ioredis";
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
  RateLimiterRes,
  RLWrapperTimeouts,
} from "rate-limiter-flexible";
import { checkOptions, needOption, type OptionNames, VolleyError } from "../protocol/index.ts";
import type { Quota, RateLimiter } from "../server/index.ts";

export type RateLimiterOptions = (
  | {
      /** Your own client of Redis or Valkey, of one server or of a cluster; you close it. */
      readonly client: Redis | Cluster;
    }
  | {
      /** Where Redis is, as `redis://` or `rediss://`. */
      readonly url: string;
    }
  | {
      /** Your own pool of the package `pg`; you end it. */
      readonly pool: object;
    }
  | {
      /** Where Postgres is, as `postgres://`. */
      readonly connectionString: string;
    }
) & {
  /** What the keys in Redis, or the table in Postgres, begin with: lower-case letters, digits, `_`. Default `"volley"`. */
  readonly prefix?: string;
  /** How long to wait for the store before this process counts for itself, in milliseconds. Default 500. */
  readonly timeoutMs?: number;
};

interface Store {
  limiterOf(options: LimiterOptions): RateLimiterAbstract;
  close(): Promise<void>;
}

interface LimiterOptions {
  readonly points: number;
  /** In seconds. */
  readonly duration: number;
  readonly keyPrefix: string;
  readonly inMemoryBlockOnConsumed: number;
  readonly insuranceLimiter: RateLimiterAbstract;
}

const OPTIONS: OptionNames<RateLimiterOptions> = {
  client: true,
  url: true,
  pool: true,
  connectionString: true,
  prefix: true,
  timeoutMs: true,
};

/**
 * Makes a rate limiter whose counts all instances share, for the option `rateLimiter` of `createServer`.
 *
 * While the store does not answer, each process counts for itself: nobody is turned away for it. Callers are named by
 * digests. Needs the package `ioredis` or `pg`; in Postgres, a table that is made when it is missing.
 *
 * @throws VolleyError `invalid_options`; whatever the driver throws when the store is not there at the start
 * @example
 * ```ts
 * import { createRateLimiter } from "volley-mcp/limits";
 * const rateLimiter = await createRateLimiter({ url: "redis://redis.internal:6379" });
 * const server = createServer({ name: "shop", version: "1.0.0", audience: "https://shop.example/mcp", rateLimiter });
 * ```
 */
export async function createRateLimiter(options: RateLimiterOptions): Promise<RateLimiter> {
  checkOptions("createRateLimiter", options, OPTIONS);
  needOption("createRateLimiter", options, "client", "url", "pool", "connectionString");
  const { prefix = "volley", timeoutMs = 500 } = options;
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(prefix)) {
    throw new VolleyError(
      "invalid_options",
      `createRateLimiter: the prefix "${prefix}" must be lower-case letters, digits and _, at most 40 of them.`,
    );
  }
  const store =
    "client" in options || "url" in options ? await redisStore(options) : await postgresStore(options, prefix);
  const limiters = new Map<string, RateLimiterAbstract>();

  const limiterOf = ({ name, points, windowMs }: Quota): RateLimiterAbstract => {
    const known = limiters.get(name);
    if (known !== undefined) return known;
    const duration = Math.max(1, Math.ceil(windowMs / 1000));
    const limiter = store.limiterOf({
      points,
      duration,
      keyPrefix: `${prefix}:limit:${name}`,
      // Who has used everything up costs the store nothing more.
      inMemoryBlockOnConsumed: points,
      insuranceLimiter: new RateLimiterMemory({ points, duration }),
    });
    const made = new RLWrapperTimeouts({ limiter, timeoutMs });
    limiters.set(name, made);
    return made;
  };

  return {
    async take(quota, key) {
      try {
        await limiterOf(quota).consume(createHash("sha256").update(key).digest("base64url"));
        return 0;
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return Math.max(1, refusal.msBeforeNext);
        throw refusal;
      }
    },
    close: () => store.close(),
  };
}

async function redisStore(options: { readonly client: Redis | Cluster } | { readonly url: string }): Promise<Store> {
  const client = "client" in options ? options.client : await connectRedis(options.url);
  const close = async (): Promise<void> => {
    if ("url" in options) client.disconnect();
  };
  try {
    await client.ping();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    limiterOf: (limits) => new RateLimiterRedis({ ...limits, storeClient: client, rejectIfRedisNotReady: true }),
    close,
  };
}

async function connectRedis(url: string): Promise<Redis> {
  const { Redis } = await import("ioredis");
  const client = new Redis(url, { maxRetriesPerRequest: 10, retryStrategy: (times) => Math.min(times * 50, 500) });
  // While it is away this process counts for itself; without a listener each lost connection would be printed.
  client.on("error", () => {});
  return client;
}

async function postgresStore(
  options: { readonly pool: object } | { readonly connectionString: string },
  prefix: string,
): Promise<Store> {
  const own = "pool" in options ? undefined : await connectPostgres(options.connectionString);
  const storeClient = "pool" in options ? options.pool : own;
  const table = { storeClient, storeType: "pool", tableName: `${prefix}_limits` };
  const close = async (): Promise<void> => {
    await own?.end();
  };
  try {
    await new Promise<void>((resolve, reject) => {
      // Made for its table alone.
      new RateLimiterPostgres({ ...table, points: 1, duration: 1, clearExpiredByTimeout: false }, (error?: Error) =>
        error ? reject(error) : resolve(),
      );
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { limiterOf: (limits) => new RateLimiterPostgres({ ...limits, ...table, tableCreated: true }), close };
}

async function connectPostgres(connectionString: string): Promise<{ end(): Promise<void> }> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString, max: 4, connectionTimeoutMillis: 5_000 });
  pool.on("error", () => {});
  return pool;
}
