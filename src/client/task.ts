// A task by hand, and as plain data that another process can go on with.
import {
  type CallToolResult,
  type ClientCapabilities,
  checkOptions,
  type DetailedTask,
  type InputRequests,
  type InputResponse,
  type InputResponses,
  isObject,
  isOptionalString,
  isStrings,
  VolleyError,
} from "../protocol/index.ts";
import { type AskKind, checkAnswer, type FormAnswer, type UrlAnswer } from "./answers.ts";
import type { AskHandlers } from "./asks.ts";
import { FOLLOW_OPTIONS, REQUEST_OPTIONS } from "./option-names.ts";
import type { RequestOptions, TaskData } from "./options.ts";
import type { Rounds } from "./rounds.ts";
import type { FollowOptions } from "./task-follow.ts";
import { createTaskWire } from "./task-wire.ts";

/** A task of a server: work that goes on whether anybody follows it or not. */
export interface TaskHandle {
  readonly id: string;
  /** Its state now, by one request; the questions that are open, its result and its error are in it. */
  get(options?: RequestOptions): Promise<DetailedTask>;
  /**
   * Answers questions of the task, some or all: forms and URL questions as their handlers would, sampling and roots in
   * the protocol's shape.
   *
   * Throws VolleyError `no_answer`, which says what is wrong, when an answer cannot be used, `invalid_options` for a key by
   * which nothing is asked. The server takes them in its own time: `get` may still show the questions for a while.
   */
  answer(
    answers: Readonly<Record<string, FormAnswer | UrlAnswer | InputResponse>>,
    options?: RequestOptions,
  ): Promise<void>;
  /** Asks the server to stop the task, which it may do later or not at all. */
  cancel(options?: RequestOptions): Promise<void>;
  /**
   * Follows the task to its end, as `callTool` does; its signal ends the following, and the task only with
   * `cancelOnAbort: true`.
   *
   * The client's handlers are asked what the task asks. Without a handler, the kinds that are answered by hand are left for
   * {@link TaskHandle.answer}; all others are a VolleyError `no_handler`.
   */
  result(options?: FollowOptions): Promise<CallToolResult>;
  /** Plain data for {@link Client.task}. Whoever has it, and the caller's authorization, can answer and cancel: keep it as a secret. */
  toJSON(): TaskData;
}

/** Makes a handle. */
export function createTaskHandle(
  rounds: Rounds,
  handlers: AskHandlers,
  capabilities: ClientCapabilities,
  data: TaskData,
): TaskHandle {
  const { taskId: id } = data;
  const wire = createTaskWire(rounds.connection, data.wire, capabilities);
  const answered = new Set<string>();
  let seen: InputRequests = Object.create(null);

  async function get(options: RequestOptions = {}): Promise<DetailedTask> {
    checkOptions("task.get", options, REQUEST_OPTIONS);
    const task = await wire.get(id, options);
    if (task.status === "input_required") seen = task.inputRequests;
    return task;
  }

  return {
    id,
    get,
    async answer(answers, options = {}) {
      checkOptions("task.answer", options, REQUEST_OPTIONS);
      const keys = Object.keys(answers);
      if (!keys.every((key) => Object.hasOwn(seen, key))) await get(options);
      const responses: InputResponses = Object.create(null);
      for (const key of keys) {
        const request = seen[key];
        if (request === undefined)
          throw new VolleyError("invalid_options", `The task asks nothing by the key "${key}".`);
        responses[key] = checkAnswer(key, request, answers[key]);
      }
      await wire.update(id, responses, options);
      for (const key of keys) answered.add(key);
    },
    async cancel(options = {}) {
      checkOptions("task.cancel", options, REQUEST_OPTIONS);
      await wire.cancel(id, options);
    },
    async result(options = {}) {
      checkOptions("task.result", options, FOLLOW_OPTIONS);
      const { followTask } = await import("./task-follow.ts");
      const following = { handle: data, capabilities, options, seed: undefined, byHand: data.answers, answered };
      return followTask(rounds, handlers, following);
    },
    toJSON: () => data,
  };
}

/** Reads what {@link TaskHandle.toJSON} or `onTask` gave, as data or as text. */
export function readTaskData(data: unknown): TaskData | undefined {
  const read = typeof data === "string" ? parse(data) : data;
  const isData =
    isObject(read) &&
    read.type === "volley-mcp/task" &&
    read.version === 1 &&
    typeof read.address === "string" &&
    typeof read.taskId === "string" &&
    read.taskId !== "" &&
    isOptionalString(read.tool) &&
    (read.wire === "extension" || read.wire === "sep2322") &&
    isStrings(read.answers);
  return isData ? (read as unknown as TaskData) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The data of a task that a call became. */
export function taskDataOf(
  rounds: Rounds,
  taskId: string,
  tool: string | undefined,
  wire: TaskData["wire"],
  answers: readonly AskKind[],
): TaskData {
  const { address } = rounds.connection.server();
  return {
    type: "volley-mcp/task",
    version: 1,
    address,
    taskId,
    ...(tool === undefined ? {} : { tool }),
    wire,
    answers,
  };
}
