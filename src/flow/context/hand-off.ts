import {
  checkOptions,
  ErrorCode,
  type OptionNames,
  RpcError,
  TASKS_EXTENSION,
  VolleyError,
} from "../../protocol/index.ts";
import { canonicalJson, digest } from "../../state/index.ts";
import { InDoubt, NotDone } from "../api/errors.ts";
import type { RoundRequest, TaskOptions } from "../api/types.ts";
import { type ContextPromise, never, settled } from "../run/context-promise.ts";
import type { Flow } from "../run/flow.ts";
import type { Run } from "../run/run.ts";
import { happen } from "./effect.ts";
import { restsOn } from "./rests-on.ts";

/** How long a task is kept unless it is said otherwise. */
export const DEFAULT_TASK_TTL_MS: number = 60 * 60_000;

const OPTIONS: OptionNames<TaskOptions> = { ttlMs: true, pollIntervalMs: true, message: true, fallback: true };

/** Ends the request-carried part of a flow. An effect: the flow must be known to its client first, as for `once`. */
export function toTask(run: Run, flow: Flow, options: TaskOptions): ContextPromise<void> {
  checkOptions("ctx.toTask", options, OPTIONS);
  if (run.begin("u", "toTask") === undefined) return run.refuse("toTask");
  if (run.carrier !== undefined) return settled(undefined);
  const { definition, services } = flow;
  if (definition.kind !== "tool" || services.tasks === undefined || definition.answersWithoutState === "accept") {
    throw new VolleyError(
      "context_misused",
      `${definition.kind} "${definition.name}" cannot become a task: that needs a tool, a server with a task engine ` +
        '(createTasks of volley-mcp/tasks), and no `answersWithoutState: "accept"`.',
    );
  }
  if (!followsTasks(run.request)) {
    if (options.fallback === "inline") return settled(undefined);
    throw needsTasks();
  }
  if (flow.presented) run.handOff(options);
  else run.wantTicket();
  return never();
}

/** Whether this request's client can follow a task. */
export function followsTasks(request: Pick<RoundRequest, "client" | "task">): boolean {
  const { extensions } = request.client.capabilities;
  return request.task !== undefined || (extensions !== undefined && Object.hasOwn(extensions, TASKS_EXTENSION));
}

export function needsTasks(): RpcError {
  return new RpcError(
    ErrorCode.MissingRequiredClientCapability,
    "This needs a client that can follow tasks, which this one does not declare.",
    { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
  );
}

/**
 * Gives a flow that its client carried to the task engine, once: the effect `$task`, which no author can name, commits
 * its answers in the flow's ledger row, so that a replay gets the same handle and a fork with other answers a Conflict.
 */
export async function handOff(
  flow: Flow,
  options: TaskOptions,
  request: RoundRequest,
): Promise<Record<string, unknown>> {
  const start = async (): Promise<Record<string, unknown>> => {
    try {
      return await startTask(flow, options, request);
    } catch (error) {
      // What is refused was not made: the claim is given back, so that the same round may come again.
      throw RpcError.is(error) ? new NotDone(error.message, { cause: error }) : error;
    }
  };
  const keepFor = request.task?.ttlMs ?? options.ttlMs ?? DEFAULT_TASK_TTL_MS;
  try {
    // Making the task again makes no second one, so whoever finds the effect in doubt makes it.
    const made = await happen(flow, "$task", { keepFor, recover: start }, start);
    if (made !== undefined) return made.value;
  } catch (error) {
    if (error instanceof NotDone) throw error.cause;
    throw error instanceof InDoubt ? unavailable(error) : error;
  }
  throw unavailable();
}

/** Makes the flow's task durable, before its client hears of it. */
export async function startTask(
  flow: Flow,
  options: TaskOptions,
  request: RoundRequest,
): Promise<Record<string, unknown>> {
  const { id, deadline, definition, services } = flow;
  if (services.tasks === undefined) throw unavailable();
  const answers = digest(canonicalJson([id, restsOn(flow)]));
  const body = flow.toBody([], undefined);
  return await services.tasks.start({ flow: id, body, deadline, answers, request, definition, options });
}

function unavailable(cause?: unknown): VolleyError {
  return new VolleyError("ledger_unavailable", "The task could not be stored. Try again.", { cause });
}
