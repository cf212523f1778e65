import { Conflict, DEFAULT_TASK_TTL_MS, type TaskStart } from "../flow/index.ts";
import { type TaskSettings, tooMany } from "../server/index.ts";
import { digest } from "../state/index.ts";
import type { TaskData } from "./data.ts";
import type { FoundTask, TaskRecords } from "./records.ts";

/** Gives a flow's task its id: always the same one, and one that nobody can guess. */
export type TaskIds = (flow: string) => string;

/** What ids tasks have, how long they are kept, and how often clients should look. */
export interface TaskDefaults {
  readonly idOf: TaskIds;
  readonly ttlMs: number | undefined;
  readonly pollIntervalMs: number | undefined;
}

const LONGEST_MS = 30 * 24 * 60 * 60_000;
const POLL_MS = 1_000;
/** Nobody knows when one of the caller's tasks will end. */
const RETRY_AFTER_S = 30;
/** Tombstones outlive the last state of their flow by more than any clock may be wrong. */
const SKEW_MS = 5 * 60_000;

/** The same for the same flow under whatever keys, and as secret as the flow's own id, which is 128 random bits. */
export function taskIdOf(flow: string): string {
  return digest(JSON.stringify(["task", flow]));
}

/**
 * Makes a flow's task durable, or finds it; then has a worker take it.
 *
 * @throws Refusal 429 when its principal has as many live tasks as may be
 */
export async function startTask(
  records: TaskRecords,
  defaults: TaskDefaults,
  { limits, trace }: Pick<TaskSettings, "limits" | "trace">,
  start: TaskStart,
): Promise<FoundTask> {
  const { request, options } = start;
  const id = defaults.idOf(start.flow);
  const now = records.clock.now();
  const wanted = request.task?.ttlMs ?? options.ttlMs ?? defaults.ttlMs ?? DEFAULT_TASK_TTL_MS;
  const ttlMs = Math.min(Math.max(1, wanted), LONGEST_MS);
  const expiresAt = now + ttlMs;
  const head = {
    id,
    version: 1,
    status: "working",
    createdAt: now,
    updatedAt: now,
    ttlMs,
    pollIntervalMs: options.pollIntervalMs ?? defaults.pollIntervalMs ?? POLL_MS,
    expiresAt,
    keepUntil: Math.max(expiresAt, start.deadline) + SKEW_MS,
    epoch: 0,
    leaseUntil: null,
    wakeAt: now,
    cancelRequested: false,
  } as const;
  const data: TaskData = {
    target: request.target,
    arguments: request.allArguments ?? request.arguments,
    client: request.client,
    principal: request.principal,
    answersBefore: start.answers,
    sep: request.task !== undefined,
    statusMessage: options.message,
    body: start.body,
    asks: new Map(),
    keys: new Map(),
    answers: new Map(),
    stalls: 0,
  };
  const limit = request.principal.type === "anonymous" ? "anonymousLiveTasks" : "liveTasks";
  const found = await records.create(head, data, limits[limit]);
  if (found === undefined) throw tooMany(trace, limit, "Too many tasks that have not ended.", RETRY_AFTER_S);
  // The same flow with other answers: its first task decides.
  if (found.data.answersBefore !== start.answers) throw new Conflict("$task", []);
  // Stored but not woken is found by the next sweep.
  const failed = (error: unknown): void => trace({ type: "fault", target: request.target, error });
  await records.engine.waker.wake(id).catch(failed);
  return found;
}
