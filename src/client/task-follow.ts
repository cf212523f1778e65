// Following a task to its end.
import {
  type CallToolResult,
  type ClientCapabilities,
  type DetailedTask,
  type InputRequests,
  RpcError,
  type Task,
  VolleyError,
} from "../protocol/index.ts";
import type { AskKind } from "./answers.ts";
import type { AskHandlers } from "./asks.ts";
import type { Connection } from "./connection.ts";
import type { CallOptions, RequestOptions, TaskData } from "./options.ts";
import { untilEnded } from "./pause.ts";
import type { Rounds } from "./rounds.ts";
import { createTaskAsks } from "./task-asks.ts";
import { createMailbox, watchTask } from "./task-stream.ts";
import { createTaskWire, type TaskWire } from "./task-wire.ts";

/** What of a call's options a task needs. */
export type FollowOptions = Pick<
  CallOptions,
  "signal" | "timeoutMs" | "meta" | "onTask" | "cancelOnAbort" | "maxRounds"
>;

/** A task to follow. */
export interface Following {
  readonly handle: TaskData;
  readonly capabilities: ClientCapabilities;
  readonly options: FollowOptions;
  /** As the answer to the call described it; undefined when it was picked up later. */
  readonly seed: Task | undefined;
  /** Kinds of questions that wait for {@link TaskHandle.answer} where there is no handler. */
  readonly byHand: readonly AskKind[];
  /** Keys that have been answered. */
  readonly answered: Set<string>;
}

const NOTHING: InputRequests = Object.freeze(Object.create(null));
const DEFAULT_POLL_MS = 1_000;
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 60 * 60_000;
/** How often to look where the server tells of changes: a stream can break without a sign of it. */
const STREAM_POLL_MS = 60_000;
/** How long an aborted call waits until the server knows. */
const CANCEL_MS = 2_000;

/**
 * Follows a task to its end, by notifications where the server offers them, else by looking as often as it suggests.
 *
 * Its questions are put to the handlers, each once.
 *
 * @throws RpcError when the task failed, or is unknown; VolleyError `cancelled` when it was cancelled, `timeout` when it
 * has outlived its time
 */
export async function followTask(rounds: Rounds, handlers: AskHandlers, following: Following): Promise<CallToolResult> {
  const { connection } = rounds;
  const { handle, options, capabilities, seed } = following;
  const { taskId: id, tool } = handle;
  const { signal, timeoutMs, meta } = options;
  const requestOptions: RequestOptions = {
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(meta === undefined ? {} : { meta }),
  };
  const wire = createTaskWire(connection, handle.wire, capabilities, true);
  const get = (): Promise<DetailedTask> => wire.get(id, requestOptions);
  const tell = teller(following, connection.settings.onWarning);
  const mailbox = createMailbox();
  const ending = new AbortController();
  // Answers to a task that has ended in between may be refused: its end counts more.
  let refusal: RpcError | undefined;
  const asks = createTaskAsks({
    handlers,
    byHand: following.byHand,
    declared: capabilities,
    maxRounds: options.maxRounds ?? rounds.maxRounds,
    answered: following.answered,
    context: (round, askSignal) => ({
      server: connection.server(),
      call: { method: "tools/call", target: tool ?? id },
      round,
      signal: askSignal,
    }),
    async send(responses) {
      try {
        await wire.update(id, responses, requestOptions);
      } catch (error) {
        if (!RpcError.is(error)) throw error;
        refusal ??= error;
        mailbox.put(undefined);
      }
    },
    fail: (error) => mailbox.fail(error),
  });

  async function observe(): Promise<DetailedTask> {
    const firstSeenAt = performance.now();
    if (seed !== undefined) tell(seed);
    // Only a working task is wholly described by its handle.
    let task: DetailedTask = seed?.status === "working" ? { ...seed, status: "working" } : await get();
    if (isEnded(task)) return task;
    const stream = handle.wire === "extension" ? watchTask(connection, id, mailbox, ending.signal) : undefined;
    for (;;) {
      tell(task);
      if (isEnded(task)) return task;
      asks.show(task.status === "input_required" ? task.inputRequests : NOTHING);
      // From when it was first seen here, so that no clock has to agree with the server's.
      const remainingMs = task.ttlMs === null ? MAX_POLL_MS : firstSeenAt + task.ttlMs - performance.now();
      if (remainingMs <= 0) throw outlived(id, task.ttlMs);
      const pollMs = Math.min(Math.max(task.pollIntervalMs ?? DEFAULT_POLL_MS, MIN_POLL_MS), MAX_POLL_MS);
      const waitMs = stream?.isOpen ? Math.max(pollMs, STREAM_POLL_MS) : pollMs;
      const told = await untilEnded(mailbox.take(Math.min(waitMs, remainingMs)), signal, connection.closing);
      const newest = told ?? (await get());
      if (refusal !== undefined && !isEnded(newest)) throw refusal;
      if (isEnded(newest) || !isOlder(newest, task)) task = newest;
    }
  }

  try {
    const task = await observe();
    tell(task);
    return await resultOf(task, rounds, tool);
  } catch (error) {
    if (signal?.aborted && options.cancelOnAbort && !connection.closing.aborted) await giveUp(wire, id, connection);
    throw error;
  } finally {
    mailbox.close();
    ending.abort();
    asks.end(new VolleyError("closed", "Nobody waits for the task any more."));
  }
}

async function resultOf(task: DetailedTask, rounds: Rounds, tool: string | undefined): Promise<CallToolResult> {
  switch (task.status) {
    case "completed": {
      const subject = tool === undefined ? `the task "${task.taskId}"` : `tools/call ${JSON.stringify(tool)}`;
      const result = await rounds.read("tools/call", { resultType: "complete", ...task.result }, subject);
      if (tool !== undefined) await rounds.tools.check(tool, result);
      return result;
    }
    case "failed":
      throw new RpcError(task.error.code, task.error.message, task.error.data);
    default: {
      const reason = task.statusMessage === undefined ? "" : `: ${task.statusMessage}`;
      throw new VolleyError("cancelled", `The task "${task.taskId}" was cancelled${reason}.`);
    }
  }
}

function isEnded({ status }: Task): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** A notification and the answer to a request may pass each other. */
function isOlder(task: Task, than: Task): boolean {
  return Date.parse(task.lastUpdatedAt) < Date.parse(than.lastUpdatedAt);
}

/** Tells each state once. */
function teller({ options, handle }: Following, onWarning: (warning: string) => void): (task: Task) => void {
  const { onTask } = options;
  let last = "";
  return (task) => {
    if (onTask === undefined) return;
    const text = JSON.stringify(task);
    if (text === last) return;
    last = text;
    try {
      onTask(task, handle);
    } catch (error) {
      onWarning(`A listener for a task failed: ${error}`);
    }
  };
}

async function giveUp(wire: TaskWire, id: string, connection: Connection): Promise<void> {
  try {
    await wire.cancel(id, { timeoutMs: CANCEL_MS });
  } catch (error) {
    connection.settings.onWarning(`The task "${id}" could not be cancelled: ${error}`);
  }
}

function outlived(id: string, ttlMs: number | null): VolleyError {
  return new VolleyError(
    "timeout",
    `The task "${id}" has not ended within the ${ttlMs} ms that the server keeps it: start again.`,
  );
}
