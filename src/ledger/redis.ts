// volley-mcp/ledger/redis: the record behind `once` in Redis or Valkey, shared by any number of machines.
import { Buffer } from "node:buffer";
import type { Cluster, Redis } from "ioredis";
import { checkOptions, needOption, type OptionNames } from "../protocol/index.ts";
import { refuseEviction, runScript, type Script } from "../stores/index.ts";
import { giveBack } from "./give-back.ts";
import type { ClaimResult, Hold, Ledger, Settled } from "./ledger.ts";
import { changeScript, claimScript } from "./redis-scripts.ts";
import { keptUntil } from "./rule.ts";
import { within } from "./within.ts";

export type RedisLedgerOptions = (
  | {
      /** Your own client, of one server or of a cluster; you close it. */
      readonly client: Redis | Cluster;
    }
  | {
      /** Where Redis is, as `redis://` or `rediss://`. */
      readonly url: string;
    }
) & {
  /** Keys begin with it. Default `"volley:"`. */
  readonly prefix?: string;
  /** How long a call waits for an answer before it rejects, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
};

const OPTIONS: OptionNames<RedisLedgerOptions> = { client: true, url: true, prefix: true, timeoutMs: true };

/**
 * A {@link Ledger} in Redis 5 or newer, or Valkey: one key a row, one script a call, judged by the server's clock.
 *
 * What Redis has acknowledged it can still lose: by a fail-over to a replica that had not heard of it, or by a crash
 * without `appendonly yes` and `appendfsync always`. For what cannot be undone use Postgres.
 *
 * Needs the package `ioredis` and a server with `maxmemory-policy noeviction`; memory that runs out refuses claims then,
 * and never forgets them.
 *
 * @throws VolleyError `invalid_options` for another eviction policy; whatever ioredis throws when Redis is not there
 * @example
 * ```ts
 * import { createRedisLedger } from "volley-mcp/ledger/redis";
 * const ledger = await createRedisLedger({ url: "redis://redis.internal:6379" });
 * const server = createServer({ name: "shop", version: "1.0.0", audience: "https://shop.example/mcp", ledger });
 * ```
 */
export async function createRedisLedger(options: RedisLedgerOptions): Promise<Ledger> {
  checkOptions("createRedisLedger", options, OPTIONS);
  needOption("createRedisLedger", options, "client", "url");
  const { prefix = "volley:", timeoutMs = 5_000 } = options;
  const client = "client" in options ? options.client : await connect(options.url);
  const disconnect = (): void => {
    if ("url" in options) client.disconnect();
  };
  try {
    await within(timeoutMs, refuseEviction(client, "createRedisLedger", "what must happen once"));
  } catch (error) {
    disconnect();
    throw error;
  }

  const run = (script: Script, row: string, args: readonly (string | number | Uint8Array)[]): Promise<unknown> => {
    const given = args.map((arg) => (typeof arg === "object" ? asBuffer(arg) : arg));
    // The braces keep all keys of a row, should there ever be more, in one slot of a cluster.
    return runScript(client, script, [`${prefix}{${row}}`], given);
  };

  const change = async (hold: Hold, operation: string, ...args: readonly (number | Uint8Array)[]): Promise<boolean> => {
    const { row, name, owner, epoch } = hold;
    return Number(await within(timeoutMs, run(changeScript, row, [operation, name, owner, epoch, ...args]))) === 1;
  };

  const ledger: Ledger = {
    shared: true,

    async claim({ row, name, owner, answers, deadline, keepUntil, leaseMs, takeOver }) {
      const args = [name, owner, JSON.stringify(answers), deadline, keptUntil(keepUntil), leaseMs, takeOver ? 1 : 0];
      // A claim that is granted when nobody waits for it any more would leave an effect in doubt that never began.
      const late = (result: ClaimResult): void => {
        if (result.status === "claimed") giveBack(ledger, { row, name, owner, epoch: result.epoch }).catch(() => {});
      };
      return await within(timeoutMs, run(claimScript, row, args).then(readResult), late);
    },
    renew: (hold, leaseMs) => change(hold, "renew", leaseMs),
    settle: (hold, { failed, value }) => change(hold, "settle", failed ? 1 : 0, value),
    release: (hold) => change(hold, "release"),
    doubt: (hold) => change(hold, "doubt"),
    async close() {
      disconnect();
    },
  };
  return ledger;
}

async function connect(url: string): Promise<Redis> {
  const { Redis } = await import("ioredis");
  const client = new Redis(url, {
    // Together: a call is tried again for some four seconds while the server is gone.
    maxRetriesPerRequest: 10,
    retryStrategy: (times) => Math.min(times * 50, 500),
  });
  // Calls reject with the reason; without a listener it would be printed as well.
  client.on("error", () => {});
  return client;
}

function readResult(reply: unknown): ClaimResult {
  const [status, detail] = reply as readonly [Buffer, (number | readonly [Buffer, number, Buffer][])?];
  const outcomes = (): Settled[] =>
    (detail as readonly [Buffer, number, Buffer][]).map(([name, failed, value]) => ({
      name: name.toString(),
      failed: Number(failed) === 1,
      value,
    }));
  switch (String(status)) {
    case "claimed":
      return { status: "claimed", epoch: Number(detail) };
    case "settled":
      return { status: "settled", settled: outcomes()[0] as Settled };
    case "conflict":
      return { status: "conflict", settled: outcomes() };
    default:
      return { status: String(status) as "running" | "in_doubt" | "expired" };
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
