import type { Cluster, Redis, RedisValue } from "ioredis";
import { VolleyError } from "../protocol/index.ts";

/**
 * Refuses a Redis that forgets keys to make room.
 *
 * @param caller the function that an author has called
 * @param what it may forget, such as "tasks"
 * @throws VolleyError `invalid_options`; whatever ioredis throws when Redis is not there
 */
export async function refuseEviction(client: Redis | Cluster, caller: string, what: string): Promise<void> {
  await client.ping(); // A cluster knows its nodes once it has answered.
  const servers = "nodes" in client && client.isCluster ? client.nodes("master") : [client as Redis];
  for (const server of servers) {
    const policy = /^maxmemory_policy:(\S+)/m.exec(await server.info("memory"))?.[1];
    if (policy === "noeviction") continue;
    throw new VolleyError(
      "invalid_options",
      `${caller}: this Redis has maxmemory-policy "${policy}", so it may forget ${what}. ` +
        "Set `maxmemory-policy noeviction`, or use another Redis than the one for caching.",
    );
  }
}

/** A Lua script and the name that Redis knows it by: the SHA-1 of its text, in hex. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** Runs a script by its name, which costs less, and by its text where Redis has not heard of it. */
export async function runScript(
  client: Redis | Cluster,
  { text, sha }: Script,
  keys: readonly string[],
  args: readonly RedisValue[],
): Promise<unknown> {
  const given = [keys.length, ...keys, ...args];
  try {
    return await client.callBuffer("evalsha", [sha, ...given]);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
    return await client.callBuffer("eval", [text, ...given]);
  }
}
