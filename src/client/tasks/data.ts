// A task as plain data that another process can go on with.
import { isObject, isOptionalString, isStrings } from "../../protocol/index.ts";
import type { Connection } from "../connection/connection.ts";
import type { AskKind } from "../questions/answers.ts";

/** A task as data. */
export interface TaskData {
  readonly type: "volley-mcp/task";
  readonly version: 1;
  /** Where the task is: connect there, as the same user. */
  readonly address: string;
  readonly taskId: string;
  /** The tool whose call it is: its result is checked as that of the call would be. */
  readonly tool?: string;
  readonly wire: "extension" | "sep2322";
  /** The kinds of questions that are answered by hand. */
  readonly answers: readonly AskKind[];
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
  connection: Connection,
  taskId: string,
  tool: string | undefined,
  wire: TaskData["wire"],
  answers: readonly AskKind[],
): TaskData {
  const { address } = connection.server();
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
