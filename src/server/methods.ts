import type { StandardResult } from "../elicit/index.ts";
import type { RoundRequest, Rounds, TraceContext } from "../flow/index.ts";
import {
  checkJson,
  META,
  type RequestId,
  type RequestMetaObject,
  readGetPromptParams,
  readResourceParams,
} from "../protocol/index.ts";
import { checkName } from "./admission.ts";
import type { Call } from "./call.ts";
import { guard } from "./error-policy.ts";
import type { CacheHint, Settings } from "./options.ts";
import { invalidParams } from "./refusal.ts";
import type { PromptEntry, Registry, ResourceEntry, TemplateEntry, ToolEntry } from "./registry.ts";
import { notFound, type Results } from "./results.ts";
import { explain } from "./schema.ts";
import type { AttachedTasks } from "./task-service.ts";

/** One request whose envelope was checked. */
export interface Request {
  readonly id: RequestId;
  readonly params: Record<string, unknown>;
  readonly meta: RequestMetaObject;
  readonly call: Call;
}

/** Answers one method with the JSON of its result. */
export type Method = (request: Request) => string | Promise<string>;

/** What the methods that run handlers work with. */
export interface Services {
  readonly registry: Registry;
  readonly rounds: Rounds;
  readonly results: Results;
  readonly settings: Settings;
  /** Undefined where the server has no task engine. */
  readonly tasks: AttachedTasks | undefined;
}

export const NO_ARGUMENTS: Record<string, never> = Object.freeze({});
const NO_CACHE: CacheHint = { ttlMs: 0, cacheScope: "private" };

export function createPromptGet({ registry, rounds, results, settings }: Services): Method {
  const run = async (entry: PromptEntry, raw: Record<string, unknown>, request: Request): Promise<string> => {
    const args = await checkArguments(entry.input, raw);
    if (typeof args === "string")
      throw invalidParams(`The arguments of prompt "${entry.name}" are not valid:\n${args}`);
    return guard(settings, entry.name, "The prompt failed.", async () => {
      const [bound, given] = project(entry, raw, args);
      const reply = await rounds.play(round("prompts/get", entry.name, bound, request), entry.definition, (ctx) =>
        entry.handler(given, ctx),
      );
      return reply.type !== "complete" ? results.render(reply.result) : results.prompt(entry, reply.value);
    });
  };

  return (request) => {
    const { name, arguments: raw = NO_ARGUMENTS } = readGetPromptParams(request.params);
    checkName(name, request.call.headers);
    const entry = registry.prompts.get(name);
    if (!entry) throw invalidParams(`Unknown prompt: ${name.slice(0, 128)}`);
    checkJson(raw);
    return run(entry, raw, request);
  };
}

export function createResourceRead({ registry, rounds, results, settings }: Services): Method {
  const run = (
    entry: ResourceEntry | TemplateEntry,
    uri: string,
    request: Request,
    handler: Parameters<Rounds["play"]>[2],
  ): Promise<string> =>
    guard(settings, uri, "The resource could not be read.", async () => {
      const { params } = request;
      const reply = await rounds.play(round("resources/read", uri, undefined, request), entry.definition, handler);
      if (reply.type !== "complete") return results.render(reply.result);
      // What rests on answers is not what the next reader would get.
      const retried = params.inputResponses !== undefined || params.requestState !== undefined;
      return results.resource(uri, entry.mimeType, retried ? NO_CACHE : entry.cache, reply.value);
    });

  return (request) => {
    const { uri } = readResourceParams(request.params);
    checkName(uri, request.call.headers);
    checkJson(uri);
    const entry = registry.resources.get(uri);
    if (entry) return run(entry, uri, request, (ctx) => entry.handler(uri, ctx));
    for (const template of registry.templates.values()) {
      const variables = template.match(uri);
      if (variables) return run(template, uri, request, (ctx) => template.handler(variables, ctx, uri));
    }
    throw notFound(uri);
  };
}

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
