import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { Cluster, Redis } from "ioredis";
import { runScript, type Script } from "../stores/index.ts";
import { dueAt, isTerminal, type TaskHead, type TaskRecord, type TaskStore } from "./engine.ts";

/** A key outlives its task's time by this, should no worker sweep: by then nobody reads it any more. */
const SLACK_MS = 60 * 60_000;
const SWEEP_TASKS = 500;

/**
 * A task is a hash of `version`, `ended` (0 or 1), `head` (JSON), `sealed`, and a field `+` with the version that it came with
 * for each piece that was appended. Two sorted sets order the ids of all tasks: by when a worker should take them, and by when
 * they may go. One a principal orders those that have not ended, by when they expire. `%.0f` writes a time without an exponent.
 */
const WRITE = `
local function keep(key, till)
  local time = redis.call('TIME')
  redis.call('PEXPIREAT', key, string.format('%.0f', math.max(time[1] * 1000, tonumber(till)) + ${SLACK_MS}))
end
local function write(id, version, ended, due, keep_until, head)
  redis.call('HSET', KEYS[1], 'version', version, 'ended', ended, 'head', head)
  keep(KEYS[1], keep_until)
  redis.call('ZADD', KEYS[3], keep_until, id)
  if due == '' then redis.call('ZREM', KEYS[2], id) else redis.call('ZADD', KEYS[2], due, id) end
end
`;

const createScript = script(`${WRITE}
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', ARGV[9])
  if redis.call('ZCARD', KEYS[4]) < tonumber(ARGV[10]) then
    write(unpack(ARGV, 1, 6))
    redis.call('HSET', KEYS[1], 'sealed', ARGV[7])
    redis.call('ZADD', KEYS[4], ARGV[8], ARGV[1])
    keep(KEYS[4], redis.call('ZRANGE', KEYS[4], -1, -1, 'WITHSCORES')[2])
  end
end
return redis.call('HGETALL', KEYS[1])
`);

const updateScript = script(`${WRITE}
local stored = redis.call('HMGET', KEYS[1], 'version', 'ended')
if stored[1] ~= ARGV[7] or stored[2] ~= '0' then return 0 end
write(unpack(ARGV, 1, 6))
if ARGV[8] == 'more' then redis.call('HSET', KEYS[1], '+' .. ARGV[2], ARGV[9]) end
if ARGV[8] == 'whole' then
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(field, 1, 1) == '+' then redis.call('HDEL', KEYS[1], field) end
  end
  redis.call('HSET', KEYS[1], 'sealed', ARGV[9])
end
if ARGV[3] == '1' then redis.call('ZREM', KEYS[4], ARGV[1]) end
return 1
`);

/** KEYS: the two sets; ARGV: what the keys of tasks begin with, the time, how many. Those keys are in the sets' slot. */
const sweepScript = script(`
local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[2], 'LIMIT', 0, ARGV[3])
for _, id in ipairs(ids) do
  redis.call('DEL', ARGV[1] .. id)
  redis.call('ZREM', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
end
return #ids
`);

/** @param prefix what keys begin with, a hash tag included: every write touches a task and its sets, in one slot */
export function createRedisStore(client: Redis | Cluster, prefix: string): TaskStore {
  const task = `${prefix}:task:`;
  const sets = [`${prefix}:due`, `${prefix}:keep`] as const;
  const keysOf = (id: string, owner: string): string[] => [task + id, ...sets, `${prefix}:live:${owner}`];
  const run = (script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> =>
    runScript(client, script, keys, args);

  return {
    async create(record, most = Number.POSITIVE_INFINITY) {
      const { sealed, appended: _none, ...head } = record;
      const { id, owner, expiresAt, createdAt } = head;
      const args = [...columns(head), bytesOf(sealed), expiresAt, createdAt, most];
      return readRow(fieldsOf((await run(createScript, keysOf(id, owner), args)) as Buffer[]));
    },
    async read(id) {
      return readRow(new Map(Object.entries(await client.hgetallBuffer(task + id))));
    },
    async update(id, version, head, sealed) {
      const args = [...columns(head), version];
      if (sealed !== undefined && "more" in sealed) args.push("more", bytesOf(sealed.more));
      else if (sealed !== undefined) args.push("whole", bytesOf(sealed.whole));
      return Number(await run(updateScript, keysOf(id, head.owner), args)) === 1;
    },
    due: (now, limit) => client.zrangebyscore(sets[0], "-inf", now, "LIMIT", 0, limit),
    async sweep(now) {
      await run(sweepScript, sets, [task, now, SWEEP_TASKS]);
    },
  };
}

type Argument = string | number | Buffer;

function columns(head: TaskHead): Argument[] {
  const { id, version, status, keepUntil } = head;
  return [id, version, isTerminal(status) ? 1 : 0, dueAt(head) ?? "", keepUntil, JSON.stringify(head)];
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A hash as a script gives it: names and values by turns. */
function fieldsOf(row: readonly Buffer[]): Map<string, Buffer> {
  const fields = new Map<string, Buffer>();
  for (let at = 0; at + 1 < row.length; at += 2) fields.set(String(row[at]), row[at + 1] as Buffer);
  return fields;
}

function readRow(fields: ReadonlyMap<string, Buffer>): TaskRecord | undefined {
  const head = fields.get("head");
  const sealed = fields.get("sealed");
  if (head === undefined || sealed === undefined) return undefined;
  const versions = [...fields.keys()].filter((name) => name.startsWith("+"));
  const appended = versions.sort((a, b) => Number(a) - Number(b)).map((name) => fields.get(name) as Buffer);
  return { ...(JSON.parse(head.toString()) as TaskHead), sealed, appended };
}

function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}
