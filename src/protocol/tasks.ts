// The extension `io.modelcontextprotocol/tasks` as data, with the names of its specification.
import type { InputRequests } from "./input.ts";

/** The extension by which a client says that it can follow tasks. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** How SEP-2322 names the task in `_meta`. */
export const RELATED_TASK = "io.modelcontextprotocol/related-task";

/** @see https://github.com/modelcontextprotocol/ext-tasks */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** What a client is told of a task, whatever its status. Times are ISO 8601. */
export interface Task {
  taskId: string;
  status: TaskStatus;
  /** For people: what it is doing, or what went wrong. */
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  /** How long it is kept, from its creation, in milliseconds; null is for ever. */
  ttlMs: number | null;
  /** How often to look, in milliseconds. */
  pollIntervalMs?: number;
}

export interface WorkingTask extends Task {
  status: "working";
}

export interface InputRequiredTask extends Task {
  status: "input_required";
  /** All questions that are open; a key is never used for another question. */
  inputRequests: InputRequests;
}

export interface CompletedTask extends Task {
  status: "completed";
  /** What the call would have returned; it may have `isError`. */
  result: Record<string, unknown>;
}

export interface FailedTask extends Task {
  status: "failed";
  /** The JSON-RPC error that the call would have got. */
  error: { code: number; message: string; data?: unknown };
}

export interface CancelledTask extends Task {
  status: "cancelled";
}

export type DetailedTask = WorkingTask | InputRequiredTask | CompletedTask | FailedTask | CancelledTask;
