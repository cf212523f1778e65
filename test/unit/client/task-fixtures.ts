// Servers of tasks: literal states, one after the other.
import type { JSONRPCNotification, JSONRPCRequest } from "../../../src/protocol/index.ts";
import { type MemoryTransport, memory } from "./fixtures.ts";

export const ID = "786512e2-9e0d-44bd-8f29-789f320fe840";

/** A task in some state, as `tasks/get` has it without its result's type. */
export function task(status: string, more: object = {}): Record<string, unknown> {
  return {
    taskId: ID,
    status,
    createdAt: "2025-11-25T10:30:00Z",
    lastUpdatedAt: "2025-11-25T10:50:00Z",
    ttlMs: 3_600_000,
    pollIntervalMs: 100,
    ...more,
  };
}

export function handle(more: object = {}): Record<string, unknown> {
  return { resultType: "task", ...task("working"), ...more };
}

export function completed(said: string): Record<string, unknown> {
  return task("completed", { result: { content: [{ type: "text", text: said }], isError: false } });
}

export function nameAsk(message = "Please enter your name."): Record<string, unknown> {
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message,
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    },
  };
}

export interface Answers {
  readonly call?: unknown;
  /** The answers to `tasks/get`, in turn; the last one again and again. A function sees the request. */
  readonly get?: readonly unknown[];
  readonly update?: (request: JSONRPCRequest) => unknown;
  readonly cancel?: (request: JSONRPCRequest) => unknown;
  readonly listen?: (request: JSONRPCRequest, notify: (notification: JSONRPCNotification) => void) => unknown;
  /** Every other method. */
  readonly other?: (request: JSONRPCRequest) => unknown;
}

export const NOT_FOUND = { error: { code: -32601, message: "Method not found" } };
const DONE = { resultType: "complete" };

/** A server whose tools become a task; without `listen` it has no notifications. */
export function taskServer(answers: Answers): MemoryTransport {
  let gets = 0;
  const all = answers.get ?? [completed("done")];
  return memory((request, notify) => {
    switch (request.method) {
      case "tools/call":
        return answers.call ?? handle();
      case "tasks/get": {
        const answer = all[Math.min(gets++, all.length - 1)];
        const made = typeof answer === "function" ? answer(request) : answer;
        return made instanceof Promise || ("error" in made && !("taskId" in made)) ? made : { ...DONE, ...made };
      }
      case "tasks/update":
        return answers.update?.(request) ?? DONE;
      case "tasks/cancel":
        return answers.cancel?.(request) ?? DONE;
      case "subscriptions/listen":
        return answers.listen?.(request, notify) ?? NOT_FOUND;
      default:
        return answers.other?.(request) ?? NOT_FOUND;
    }
  });
}

/** The methods that a server has heard, in order. */
export function methods({ requests }: MemoryTransport): string[] {
  return requests.map(({ method }) => method);
}

/** The params of each request of a method, without `_meta`. */
export function paramsOf({ requests }: MemoryTransport, method: string): unknown[] {
  return requests.flatMap((request) => {
    if (request.method !== method) return [];
    const { _meta, ...params } = request.params as Record<string, unknown>;
    return [params];
  });
}
