// volley-mcp/events/redis: change notifications between instances, through Redis or Valkey.
import { randomUUID } from "node:crypto";
import type { Cluster, Redis } from "ioredis";
import { checkOptions, isObject, needOption, type OptionNames } from "../protocol/index.ts";
import type { EventBus, ServerEvent } from "../server/index.ts";

export type RedisEventBusOptions = (
  | {
      /** Your own client, of one server or of a cluster; you close it. A second connection is made from it, to listen. */
      readonly client: Redis | Cluster;
    }
  | {
      /** Where Redis is, as `redis://` or `rediss://`. */
      readonly url: string;
    }
) & {
  /** What all instances of one service share. Default `"volley:events"`. */
  readonly channel?: string;
};

const OPTIONS: OptionNames<RedisEventBusOptions> = { client: true, url: true, channel: true };

/**
 * An {@link EventBus} over Redis pub/sub: a change raised on one instance reaches the clients that listen at any other.
 *
 * What is published while Redis is away reaches this process's own listeners alone; the connections come back by
 * themselves, and clients are then told that all they watch may have changed. Redis knows no secret by it: events name what
 * changed, never what it holds. Needs the package `ioredis`.
 *
 * @throws whatever ioredis throws when Redis is not there
 * @example
 * ```ts
 * import { createRedisEventBus } from "volley-mcp/events/redis";
 * const bus = await createRedisEventBus({ url: "redis://redis.internal:6379" });
 * const server = createServer({ name: "shop", version: "1.0.0", audience: "https://shop.example/mcp", bus });
 * ```
 */
export async function createRedisEventBus(options: RedisEventBusOptions): Promise<EventBus> {
  checkOptions("createRedisEventBus", options, OPTIONS);
  needOption("createRedisEventBus", options, "client", "url");
  const { channel = "volley:events" } = options;
  const publisher = "client" in options ? options.client : await connect(options.url);
  // A connection that listens can do nothing else. What is used of it, a cluster has as well.
  const subscriber = (publisher as Redis).duplicate();
  subscriber.on("error", () => {});
  const disconnect = (): void => {
    subscriber.disconnect();
    if ("url" in options) publisher.disconnect();
  };
  const self = randomUUID();
  const listeners = new Set<(event: ServerEvent) => void>();
  const deliver = (event: ServerEvent): void => {
    for (const listener of listeners) listener(event);
  };
  subscriber.on("message", (_channel: string, text: string) => {
    const event = readForeign(text, self);
    if (event !== undefined) deliver(event);
  });
  try {
    await subscriber.subscribe(channel);
    // What was published while this connection was cut nobody repeats.
    subscriber.on("ready", () => {
      subscriber.subscribe(channel).then(
        () => deliver({ type: "missed" }),
        () => {}, // Cut again: there will be a next time.
      );
    });
  } catch (error) {
    disconnect();
    throw error;
  }
  return {
    publish(event) {
      // This process hears of it at once, whether Redis is there or not.
      deliver(event);
      publisher.publish(channel, JSON.stringify({ from: self, event })).catch(() => {});
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      disconnect();
    },
  };
}

async function connect(url: string): Promise<Redis> {
  const { Redis } = await import("ioredis");
  const client = new Redis(url, { maxRetriesPerRequest: 10, retryStrategy: (times) => Math.min(times * 50, 500) });
  // Delivery is best effort; without a listener each lost connection would be printed.
  client.on("error", () => {});
  return client;
}

/** What another instance published; undefined for our own and for what is no event. */
function readForeign(text: string, self: string): ServerEvent | undefined {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(message) || message.from === self || !isObject(message.event)) return undefined;
  const { type, uri } = message.event;
  switch (type) {
    case "tools_changed":
    case "prompts_changed":
    case "resources_changed":
      return { type };
    case "resource_updated":
      return typeof uri === "string" ? { type, uri } : undefined;
    default:
      return undefined;
  }
}
