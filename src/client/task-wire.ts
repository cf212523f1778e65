// Tasks on the wire: the extension's methods, and those of SEP-2322, read as the extension's task.
import {
  type ClientCapabilities,
  checkJson,
  type DetailedTask,
  type InputRequests,
  type InputResponses,
  isInputRequest,
  isObject,
  isOptionalString,
  isRecordOf,
  RELATED_TASK,
  type Result,
  RpcError,
  TASKS_EXTENSION,
  type Task,
  type TaskStatus,
  VolleyError,
} from "../protocol/index.ts";
import type { Connection } from "./connection.ts";
import { mayPass } from "./insist.ts";
import type { RequestOptions } from "./options.ts";

/** How a client follows tasks: not at all, by the extension, or as SEP-2322 wrote it. */
export type TaskMode = boolean | "sep2322";

/** The methods of tasks. */
export interface TaskWire {
  get(id: string, options: RequestOptions): Promise<DetailedTask>;
  update(id: string, inputResponses: InputResponses, options: RequestOptions): Promise<void>;
  cancel(id: string, options: RequestOptions): Promise<void>;
}

/** Adds the extension to what a client declares. */
export function withTasks(capabilities: ClientCapabilities, mode: TaskMode): ClientCapabilities {
  if (mode !== true) return capabilities;
  return { ...capabilities, extensions: { ...capabilities.extensions, [TASKS_EXTENSION]: {} } };
}

/** The methods of the extension, or of SEP-2322; `insist` on looking and answering as long as the server may come back. */
export function createTaskWire(
  connection: Connection,
  mode: "extension" | "sep2322",
  capabilities: ClientCapabilities,
  insist = false,
): TaskWire {
  const passes = insist ? (error: unknown) => mayPass(error, connection.kind) : undefined;
  const request = (method: string, taskId: string, more: object, options: RequestOptions): Promise<Result> =>
    connection.request({ method, params: { taskId, ...more }, capabilities, mayRepeat: passes }, options);
  const cancel: TaskWire["cancel"] = async (taskId, options) => {
    await connection.request({ method: "tasks/cancel", params: { taskId }, capabilities }, options);
  };
  if (mode === "extension") {
    return {
      cancel,
      get: async (id, options) => ofTask(id, readTask(await request("tasks/get", id, {}, options))),
      async update(id, inputResponses, options) {
        await request("tasks/update", id, { inputResponses }, options);
      },
    };
  }
  return {
    cancel,
    async get(id, options) {
      const task = ofTask(id, readBase(inNewNames(await request("tasks/get", id, {}, options))));
      const { status } = task;
      if (status === "working" || status === "cancelled") return { ...task, status };
      const isOutcome = (error: unknown): error is RpcError | VolleyError =>
        (status === "failed" && RpcError.is(error)) ||
        // It has been answered in between, and the server holds the request until there is more to say.
        (status === "input_required" && VolleyError.is(error) && error.code === "timeout");
      const mayRepeat = passes && ((error: unknown) => !isOutcome(error) && passes(error));
      // SEP-2322: what is asked, like the result, is only in the answer to tasks/result.
      try {
        const leg = { method: "tasks/result", params: { taskId: id }, capabilities, mayRepeat };
        const result = await connection.request(leg, options);
        if (result.resultType !== "input_required") return { ...task, status: "completed", result };
        return { ...task, status: "input_required", inputRequests: readRequests(result.inputRequests) };
      } catch (error) {
        if (!isOutcome(error)) throw error;
        if (!RpcError.is(error)) return { ...task, status: "working" };
        const { code, message, data } = error;
        return { ...task, status: "failed", error: { code, message, ...(data === undefined ? {} : { data }) } };
      }
    },
    async update(id, inputResponses, options) {
      const meta = { ...options.meta, [RELATED_TASK]: { taskId: id } };
      const leg = {
        method: "tasks/input_response",
        params: { inputResponses },
        name: id,
        capabilities,
        mayRepeat: passes,
      };
      await connection.request(leg, { ...options, meta });
    },
  };
}

/**
 * Reads the answer to a call that became a task.
 *
 * @see https://github.com/modelcontextprotocol/ext-tasks
 */
export function readHandle(result: Result, sep: boolean): Task {
  if (Object.hasOwn(result, "requestState") || Object.hasOwn(result, "inputRequests"))
    throw invalid("it is a task, but wants the call to be sent again");
  return readBase(sep ? inNewNames(result.task) : result);
}

/** Reads the whole state of a task. */
export function readTask(value: unknown): DetailedTask {
  const task = readBase(value);
  const { status } = task;
  const { inputRequests, result, error } = value as Record<string, unknown>;
  switch (status) {
    case "input_required":
      return { ...task, status, inputRequests: readRequests(inputRequests) };
    case "completed":
      if (isObject(result)) return { ...task, status, result };
      throw invalid("it is completed without a result");
    case "failed":
      if (!isObject(error) || !Number.isSafeInteger(error.code) || typeof error.message !== "string")
        throw invalid("it has failed without an error");
      return { ...task, status, error: error as { code: number; message: string; data?: unknown } };
    default:
      return { ...task, status };
  }
}

const STATUSES: readonly unknown[] = [
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
] satisfies TaskStatus[];

function readBase(value: unknown): Task {
  if (!isObject(value)) throw invalid("it is no object");
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs = null, pollIntervalMs } = value;
  const isTask =
    typeof taskId === "string" &&
    taskId !== "" &&
    STATUSES.includes(status) &&
    isOptionalString(statusMessage) &&
    typeof createdAt === "string" &&
    typeof lastUpdatedAt === "string" &&
    (ttlMs === null || isDuration(ttlMs)) &&
    (pollIntervalMs === undefined || isDuration(pollIntervalMs));
  if (!isTask) throw invalid("a part of it is missing or of the wrong type");
  return {
    taskId,
    status: status as TaskStatus,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttlMs,
    ...(pollIntervalMs === undefined ? {} : { pollIntervalMs }),
  };
}

function isDuration(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

function inNewNames(value: unknown): unknown {
  return isObject(value) ? { ...value, ttlMs: value.ttl, pollIntervalMs: value.pollInterval } : value;
}

function readRequests(value: unknown): InputRequests {
  if (!isRecordOf(value, isInputRequest)) throw invalid("its questions cannot be answered");
  try {
    checkJson(value);
  } catch (cause) {
    throw invalid("its questions cannot be read", cause);
  }
  return Object.assign(Object.create(null), value);
}

function ofTask<T extends Task>(id: string, task: T): T {
  if (task.taskId !== id) throw invalid(`it is the task "${task.taskId}", not "${id}"`);
  return task;
}

function invalid(problem: string, cause?: unknown): VolleyError {
  const options = cause === undefined ? {} : { cause };
  return new VolleyError(
    "message_invalid",
    `The server describes a task in a way that means nothing: ${problem}.`,
    options,
  );
}
