// What every method that runs a handler does before: its arguments, and the round as the flow takes it.
import type { StandardResult } from "../../elicit/index.ts";
import type { RoundRequest, Rounds, TaskWish, TraceContext } from "../../flow/index.ts";
import { META, type RequestMetaObject } from "../../protocol/index.ts";
import type { PromptEntry, Registry, ToolEntry } from "../catalog/registry.ts";
import type { Results } from "../catalog/results.ts";
import { explain } from "../catalog/schema.ts";
import type { ErrorPolicy } from "../message/error-policy.ts";
import type { Request } from "../message/request.ts";

/** What calls may wish of tasks. */
export interface TaskWishes {
  /** The task that a `tools/call` asks for itself, where the server takes such a wish. */
  wish(params: Readonly<Record<string, unknown>>): TaskWish | undefined;
}

/** What the methods that run handlers work with. */
export interface Services {
  readonly registry: Registry;
  readonly rounds: Rounds;
  readonly results: Results;
  readonly settings: ErrorPolicy;
  /** Undefined where the server has no task engine. */
  readonly tasks: TaskWishes | undefined;
}

export const NO_ARGUMENTS: Record<string, never> = Object.freeze({});
export function round(method: RoundRequest["method"], target: string, args: unknown, request: Request): RoundRequest {
  const { params, meta, call } = request;
  return {
    method,
    target,
    arguments: args,
    requestState: params.requestState,
    inputResponses: params.inputResponses,
    principal: call.principal,
    client: { info: meta[META.clientInfo], capabilities: meta[META.clientCapabilities] },
    progressToken: meta.progressToken,
    logLevel: meta[META.logLevel],
    exchange: call,
    traceContext: traceContext(meta),
  };
}

// The sizes are those that W3C Trace Context asks to be carried.
function traceContext({ traceparent, tracestate }: RequestMetaObject): TraceContext | undefined {
  if (typeof traceparent !== "string" || traceparent.length > 128) return undefined;
  const state = typeof tracestate === "string" && tracestate.length <= 512 ? tracestate : undefined;
  return { traceparent, tracestate: state };
}

/** What a state is bound to, and what the handler gets: the same part of the arguments. */
export function project(
  entry: ToolEntry | PromptEntry,
  raw: Record<string, unknown>,
  args: Record<string, unknown>,
): readonly [bound: Record<string, unknown>, given: Record<string, unknown>] {
  const { salient } = entry.definition;
  return salient ? [salient(raw), salient(args)] : [raw, args];
}

/** The arguments as the author's schema leaves them, or what is wrong with them; at once unless the schema needs time. */
export function checkArguments(input: ToolEntry["input"], raw: Record<string, unknown>): Checked | Promise<Checked> {
  if (!input) {
    const extra = Object.keys(raw);
    return extra.length === 0 ? raw : `- ${extra.slice(0, 10).join(", ")}: there are no arguments`;
  }
  const checked = input.validate(raw);
  return checked instanceof Promise ? checked.then(readChecked) : readChecked(checked);
}

type Checked = Record<string, unknown> | string;

function readChecked(checked: StandardResult<unknown>): Checked {
  return checked.issues ? explain(checked.issues) : (checked.value as Record<string, unknown>);
}
