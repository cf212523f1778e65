import type { DetailedTask, InputRequests, Task } from "../protocol/index.ts";
import { outstanding } from "./data.ts";
import type { FoundTask } from "./records.ts";

/** The result of a call that became a task. */
export function handleOf(found: FoundTask): Record<string, unknown> {
  return found.data.sep ? { resultType: "task", task: sepTask(found) } : { resultType: "task", ...taskOf(found) };
}

function taskOf({ record, data }: FoundTask): Task {
  return {
    taskId: record.id,
    status: record.status,
    ...(data.statusMessage === undefined ? {} : { statusMessage: data.statusMessage }),
    createdAt: new Date(record.createdAt).toISOString(),
    lastUpdatedAt: new Date(record.updatedAt).toISOString(),
    ttlMs: record.ttlMs,
    pollIntervalMs: record.pollIntervalMs,
  };
}

/** The whole state of a task. */
export function detailedTask(found: FoundTask): DetailedTask {
  const task = taskOf(found);
  const { status } = task;
  switch (status) {
    case "input_required":
      return { ...task, status, inputRequests: inputRequestsOf(found) };
    case "completed":
      return { ...task, status, result: found.data.result ?? {} };
    case "failed":
      return { ...task, status, error: found.data.error ?? { code: -32603, message: "Internal error" } };
    default:
      return { ...task, status };
  }
}

export function inputRequestsOf({ data }: FoundTask): InputRequests {
  const requests: InputRequests = Object.create(null);
  for (const [wire, { request }] of outstanding(data)) requests[wire] = request;
  return requests;
}

/** A task as SEP-2322 writes it. */
export function sepTask(found: FoundTask): Record<string, unknown> {
  const { ttlMs, pollIntervalMs, ...rest } = taskOf(found);
  return { ...rest, ttl: ttlMs, pollInterval: pollIntervalMs };
}
