// Guards for the params of requests. They throw RpcError -32602, and return the params as they came, narrowed.
import { isStrings } from "./content-guards.ts";
import { ErrorCode, RpcError } from "./errors.ts";
import type { PromptReference, ResourceTemplateReference } from "./features.ts";
import { isObject, isOptionalBoolean, isOptionalObject, isRecordOf, isString } from "./guards.ts";
import type { SubscriptionFilter } from "./notifications.ts";

/** What a retry adds, not yet looked at: both are an attacker's input until the state has been opened. */
export interface RetryParams {
  readonly inputResponses?: unknown;
  readonly requestState?: unknown;
}

/** The params of `tools/call`. */
export interface CallToolParams extends RetryParams {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
}

/** The params of `prompts/get`. */
export interface GetPromptParams extends RetryParams {
  readonly name: string;
  readonly arguments?: Record<string, string>;
}

/** The params of `resources/read`. */
export interface ReadResourceParams extends RetryParams {
  readonly uri: string;
}

/** The params of `completion/complete`. */
export interface CompleteParams {
  readonly ref: PromptReference | ResourceTemplateReference;
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Record<string, string> };
}

function invalid(rule: string): RpcError {
  return new RpcError(ErrorCode.InvalidParams, rule);
}

/** Reads the params of `tools/call`; whether the arguments fit is for the tool's schema to say. */
export function readCallToolParams(params: unknown): CallToolParams {
  if (!isObject(params) || typeof params.name !== "string") throw invalid("params.name is required, a tool's name");
  if (!isOptionalObject(params.arguments)) throw invalid("params.arguments is an object where it is present");
  return params as unknown as CallToolParams;
}

/** Reads the params of `prompts/get`. */
export function readGetPromptParams(params: unknown): GetPromptParams {
  if (!isObject(params) || typeof params.name !== "string") throw invalid("params.name is required, a prompt's name");
  if (params.arguments !== undefined && !isRecordOf(params.arguments, isString)) {
    throw invalid("params.arguments is an object of strings where it is present");
  }
  return params as unknown as GetPromptParams;
}

/** Reads the params of `resources/read`. */
export function readResourceParams(params: unknown): ReadResourceParams {
  if (!isObject(params) || typeof params.uri !== "string") throw invalid("params.uri is required, a resource's URI");
  return params as unknown as ReadResourceParams;
}

function isReference(value: unknown): value is PromptReference | ResourceTemplateReference {
  return (
    isObject(value) &&
    ((value.type === "ref/prompt" && typeof value.name === "string") ||
      (value.type === "ref/resource" && typeof value.uri === "string"))
  );
}

/** Reads the params of `completion/complete`. */
export function readCompleteParams(params: unknown): CompleteParams {
  if (!isObject(params) || !isReference(params.ref)) {
    throw invalid("params.ref is required: a ref/prompt with a name, or a ref/resource with a uri");
  }
  const { argument, context } = params;
  if (!isObject(argument) || typeof argument.name !== "string" || typeof argument.value !== "string") {
    throw invalid("params.argument is required, with a name and a value, strings");
  }
  if (
    context !== undefined &&
    (!isObject(context) || (context.arguments !== undefined && !isRecordOf(context.arguments, isString)))
  ) {
    throw invalid("params.context.arguments is an object of strings where it is present");
  }
  return params as unknown as CompleteParams;
}

/** True for the notifications that a client wants to hear. */
export function isSubscriptionFilter(value: unknown): value is SubscriptionFilter {
  return (
    isObject(value) &&
    isOptionalBoolean(value.toolsListChanged) &&
    isOptionalBoolean(value.promptsListChanged) &&
    isOptionalBoolean(value.resourcesListChanged) &&
    (value.resourceSubscriptions === undefined || isStrings(value.resourceSubscriptions)) &&
    (value.taskIds === undefined || isStrings(value.taskIds))
  );
}

/** Reads the filter of `subscriptions/listen`. */
export function readSubscriptionFilter(params: unknown): SubscriptionFilter {
  if (!isObject(params) || !isSubscriptionFilter(params.notifications)) {
    throw invalid(
      "params.notifications is required: booleans, resourceSubscriptions as a list of URIs, taskIds as a list of ids",
    );
  }
  return params.notifications;
}

/** Reads where a list shall go on; undefined means from its start. */
export function readCursor(params: unknown): string | undefined {
  const cursor = isObject(params) ? params.cursor : undefined;
  if (cursor !== undefined && typeof cursor !== "string")
    throw invalid("params.cursor is a string that a list returned");
  return cursor;
}
