import {
  followsTasks,
  needsTasks,
  type ResumedTask,
  type RoundReply,
  type RoundRequest,
  type TaskState,
} from "../flow/index.ts";
import { checkJson, isObject, RpcError, readCallToolParams, VolleyError } from "../protocol/index.ts";
import { checkName, checkParamHeaders } from "./admission.ts";
import { tellCaller } from "./error-policy.ts";
import { findUnsafeInteger } from "./integers.ts";
import { checkArguments, type Method, NO_ARGUMENTS, project, type Request, round, type Services } from "./methods.ts";
import { invalidParams, Refusal } from "./refusal.ts";
import type { ToolEntry } from "./registry.ts";

export function createToolCall(services: Services): Method {
  const { registry, rounds, results, tasks } = services;
  const play = (
    entry: ToolEntry,
    raw: Record<string, unknown>,
    args: Record<string, unknown>,
    request: Request,
  ): Promise<RoundReply> => {
    const [bound, given] = project(entry, raw, args);
    const plain = round("tools/call", entry.name, bound, request);
    const asked: RoundRequest = tasks ? { ...plain, allArguments: raw, task: tasks.wish(request.params) } : plain;
    if (entry.task !== undefined && tasks && followsTasks(asked)) {
      return rounds.start(asked, entry.definition, {});
    }
    if (entry.task !== "required") {
      return rounds.play(asked, entry.definition, (ctx) => entry.handler(given, ctx));
    }
    if (tasks) throw needsTasks();
    throw new VolleyError("registration_invalid", `The tool "${entry.name}" needs createServer({ tasks }).`);
  };
  const run = async (entry: ToolEntry, raw: Record<string, unknown>, request: Request): Promise<string> => {
    try {
      const checked = checkArguments(entry.input, raw);
      // Most schemas need no time: nor does a round for them.
      const args = checked instanceof Promise ? await checked : checked;
      if (typeof args === "string") return results.toolError(invalid(entry.name, args));
      const reply = await play(entry, raw, args, request);
      if (reply.type !== "complete") return results.render(reply.result);
      return await results.tool(entry, reply.value);
    } catch (error) {
      if (RpcError.is(error)) throw error;
      return failed(services, entry.name, error);
    }
  };

  return (request) => {
    const { call } = request;
    const { name, arguments: raw = NO_ARGUMENTS } = readCallToolParams(request.params);
    checkName(name, call.headers);
    const entry = registry.tools.get(name);
    if (!entry) throw invalidParams(`Unknown tool: ${name.slice(0, 128)}`);
    // Before the headers, which cannot mirror such a number: a mismatch would make the client try again for ever.
    if (checkJson(raw)) refuseUnsafeIntegers(entry, raw);
    if (entry.headers.length > 0 && call.headers) checkParamHeaders(entry.headers, raw, call.headers);
    return run(entry, raw, request);
  };
}

function refuseUnsafeIntegers(entry: ToolEntry, raw: Record<string, unknown>): void {
  const path = findUnsafeInteger(entry.input?.json, raw);
  if (path === undefined) return;
  throw invalidParams(`The params hold an integer beyond 2^53 in arguments.${path.slice(0, 128)}: send it as a string`);
}

function invalid(name: string, reasons: string): string {
  return `The arguments of "${name}" are not valid:\n${reasons}`;
}

/** A handler's error as a result, for the model. */
function failed({ settings, results }: Services, name: string, error: unknown): string {
  return results.toolError(tellCaller(settings, name, error, `The tool "${name}" failed.`));
}

/** A task as its worker hands it to the server. */
export interface TaskToPlay extends Omit<ResumedTask, "definition"> {
  readonly request: RoundRequest & { readonly allArguments: unknown };
}

/** How a run of a task ended. */
export type TaskEnding =
  | { readonly type: "result"; readonly result: Record<string, unknown> }
  | { readonly type: "error"; readonly error: RpcError }
  | { readonly type: "suspended"; readonly state: TaskState; readonly wakeAt: number | undefined }
  /** It could not go on for now, which says nothing about the task. */
  | { readonly type: "later" };

export type TaskPlay = (task: TaskToPlay) => Promise<TaskEnding>;

/** Runs a tool's handler in a task: the same checks, and the same rendering of what comes of it. */
export function createTaskPlay(services: Services): TaskPlay {
  const { registry, rounds, results, settings } = services;
  const play = async (entry: ToolEntry, task: TaskToPlay): Promise<TaskEnding | string> => {
    const raw = isObject(task.request.allArguments) ? task.request.allArguments : NO_ARGUMENTS;
    const args = await checkArguments(entry.input, raw);
    if (typeof args === "string") return results.toolError(invalid(entry.name, args));
    const [, given] = project(entry, raw, args);
    const outcome = await rounds.resume({ ...task, definition: entry.definition }, (ctx) => entry.handler(given, ctx));
    if (outcome.type === "suspended") return outcome;
    if (outcome.type === "threw") throw outcome.error;
    return await results.tool(entry, outcome.value);
  };
  return async (task) => {
    const entry = registry.tools.get(task.request.target);
    if (!entry) {
      const message = "A task waits for a worker with this tool.";
      settings.trace({ type: "warning", target: task.request.target, message });
      return { type: "later" };
    }
    let stopped = false;
    task.request.exchange.onAbort(() => {
      stopped = true;
    });
    try {
      const ending = await play(entry, task);
      return typeof ending === "string" ? { type: "result", result: JSON.parse(ending) } : ending;
    } catch (error) {
      const passes = isPassing(error);
      if (RpcError.is(error)) return passes ? { type: "later" } : { type: "error", error };
      if (passes && !stopped) {
        settings.trace({ type: "fault", target: entry.name, error });
        return { type: "later" };
      }
      // A handler that ends because it was told to has no fault.
      const text = stopped ? results.toolError("The task was stopped.") : failed(services, entry.name, error);
      return { type: "result", result: JSON.parse(text) };
    }
  };
}

/** Whom a round tells to try again: a task does so itself. */
function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return error.retryAfter !== undefined;
  return VolleyError.is(error) && (error.code === "ledger_unavailable" || error.code === "effect_running");
}
