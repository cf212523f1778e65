import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { Cluster, Redis } from "ioredis";
import { runScript, type Script } from "../stores/index.ts";
import { dueAt, isTerminal, type TaskRecord, type TaskStore } from "./engine.ts";

/** A key outlives its task's time by this, should no worker sweep: by then nobody reads it any more. */
const SLACK_MS = 60 * 60_000;
const SWEEP_TASKS = 500;

/**
 * A task is a hash of `version`, `ended` (0 or 1), `head` (JSON) and `sealed`. Two sorted sets order the ids of all tasks:
 * by when a worker should take them, and by when they may go. One a principal orders those that have not ended, by when they
 * expire. `%.0f` writes a time without an exponent.
 */
const WRITE = `
local function keep(key, till)
  local time = redis.call('TIME')
  redis.call('PEXPIREAT', key, string.format('%.0f', math.max(time[1] * 1000, tonumber(till)) + ${SLACK_MS}))
end
local function write(id, version, ended, due, keep_until, head, sealed)
  redis.call('HSET', KEYS[1], 'version', version, 'ended', ended, 'head', head, 'sealed', sealed)
  keep(KEYS[1], keep_until)
  redis.call('ZADD', KEYS[3], keep_until, id)
  if due == '' then redis.call('ZREM', KEYS[2], id) else redis.call('ZADD', KEYS[2], due, id) end
end
`;

const createScript = script(`${WRITE}
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', ARGV[9])
  if redis.call('ZCARD', KEYS[4]) < tonumber(ARGV[10]) then
    write(unpack(ARGV, 1, 7))
    redis.call('ZADD', KEYS[4], ARGV[8], ARGV[1])
    keep(KEYS[4], redis.call('ZRANGE', KEYS[4], -1, -1, 'WITHSCORES')[2])
  end
end
return redis.call('HMGET', KEYS[1], 'head', 'sealed')
`);

const updateScript = script(`${WRITE}
local stored = redis.call('HMGET', KEYS[1], 'version', 'ended')
if stored[1] ~= ARGV[8] or stored[2] ~= '0' then return 0 end
write(unpack(ARGV, 1, 7))
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
      const { id, owner, expiresAt, createdAt } = record;
      return readRow(await run(createScript, keysOf(id, owner), [...columns(record), expiresAt, createdAt, most]));
    },
    async read(id) {
      return readRow(await client.hmgetBuffer(task + id, "head", "sealed"));
    },
    async update(id, version, record) {
      return Number(await run(updateScript, keysOf(id, record.owner), [...columns(record), version])) === 1;
    },
    due: (now, limit) => client.zrangebyscore(sets[0], "-inf", now, "LIMIT", 0, limit),
    async sweep(now) {
      await run(sweepScript, sets, [task, now, SWEEP_TASKS]);
    },
  };
}

type Argument = string | number | Buffer;

function columns({ sealed, ...head }: TaskRecord): Argument[] {
  const due = dueAt({ ...head, sealed });
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const { id, version, keepUntil } = head;
  return [id, version, isTerminal(head.status) ? 1 : 0, due ?? "", keepUntil, JSON.stringify(head), bytes];
}

function readRow(row: unknown): TaskRecord | undefined {
  const [head, sealed] = row as readonly (Buffer | null)[];
  if (!head || !sealed) return undefined;
  return { ...(JSON.parse(head.toString()) as Omit<TaskRecord, "sealed">), sealed };
}

function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}
