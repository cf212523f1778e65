import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { Cluster, Redis } from "ioredis";
import { dueAt, isTerminal, type TaskRecord, type TaskStore } from "./engine.ts";

/** A key outlives its task's time by this, should no worker sweep: by then nobody reads it any more. */
const SLACK_MS = 60 * 60_000;
const SWEEP_TASKS = 500;

/**
 * A task is a hash of `version`, `ended` (0 or 1), `head` (JSON) and `sealed`. Two sorted sets order the ids of all tasks:
 * by when a worker should take them, and by when they may go. `%.0f` writes a time without an exponent.
 */
const WRITE = `
local function write(id, version, ended, due, keep_until, head, sealed)
  redis.call('HSET', KEYS[1], 'version', version, 'ended', ended, 'head', head, 'sealed', sealed)
  local time = redis.call('TIME')
  local last = math.max(time[1] * 1000, tonumber(keep_until)) + ${SLACK_MS}
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last))
  redis.call('ZADD', KEYS[3], keep_until, id)
  if due == '' then redis.call('ZREM', KEYS[2], id) else redis.call('ZADD', KEYS[2], due, id) end
end
`;

const createScript = script(`${WRITE}
if redis.call('EXISTS', KEYS[1]) == 0 then write(unpack(ARGV)) end
return redis.call('HMGET', KEYS[1], 'head', 'sealed')
`);

const updateScript = script(`${WRITE}
local stored = redis.call('HMGET', KEYS[1], 'version', 'ended')
if stored[1] ~= ARGV[8] or stored[2] ~= '0' then return 0 end
write(unpack(ARGV, 1, 7))
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

/** @param prefix what keys begin with, a hash tag included: every write touches a task and both sets, in one slot */
export function createRedisStore(client: Redis | Cluster, prefix: string): TaskStore {
  const task = `${prefix}:task:`;
  const sets = [`${prefix}:due`, `${prefix}:keep`] as const;
  const run = async ({ text, sha }: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> => {
    const given = [keys.length, ...keys, ...args];
    try {
      return await client.callBuffer("evalsha", [sha, ...given]);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return await client.callBuffer("eval", [text, ...given]);
    }
  };

  return {
    async create(record) {
      const stored = await run(createScript, [task + record.id, ...sets], columns(record));
      return readRow(stored) ?? record;
    },
    async read(id) {
      return readRow(await client.hmgetBuffer(task + id, "head", "sealed"));
    },
    async update(id, version, record) {
      return Number(await run(updateScript, [task + id, ...sets], [...columns(record), version])) === 1;
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

interface Script {
  readonly text: string;
  readonly sha: string;
}

function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}
