// Guards for what a server sends: results, and the params of notifications. A list with one entry that is none is refused
// as a whole: nobody can say what was meant. A notification that fails its guard is dropped: nobody waits for an answer.
import {
  isContentBlock,
  isPrompt,
  isPromptMessage,
  isResource,
  isResourceContents,
  isResourceTemplate,
  isStrings,
  isTool,
} from "./content-guards.ts";
import type {
  CallToolResult,
  CompleteResult,
  DiscoverResult,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  ReadResourceResult,
} from "./features.ts";
import {
  isArrayOf,
  isLoggingLevel,
  isObject,
  isOptionalBoolean,
  isOptionalObject,
  isOptionalString,
  isProgressToken,
  isRecordOf,
  isRequestId,
} from "./guards.ts";
import { META } from "./json-rpc.ts";
import type {
  CancelledNotificationParams,
  LoggingMessageNotificationParams,
  ProgressNotificationParams,
  ResourceUpdatedNotificationParams,
  SubscriptionsAcknowledgedNotificationParams,
} from "./notifications.ts";
import type { ServerCapabilities } from "./peer.ts";
import { isSubscriptionFilter } from "./request-guards.ts";

// readResponse has given results of earlier revisions their type.
function isComplete(value: unknown): value is Record<string, unknown> & { resultType: "complete" } {
  return isObject(value) && value.resultType === "complete" && isOptionalObject(value._meta);
}

/** Servers of earlier revisions send neither: `ttlMs` is then 0 and `cacheScope` private. */
function isCacheable(value: Record<string, unknown>): boolean {
  return (
    (value.ttlMs === undefined || Number.isFinite(value.ttlMs)) &&
    (value.cacheScope === undefined || value.cacheScope === "public" || value.cacheScope === "private")
  );
}

function isPage(value: unknown): value is Record<string, unknown> & { resultType: "complete" } {
  return isComplete(value) && isOptionalString(value.nextCursor) && isCacheable(value);
}

/**
 * A result whose cache hints may be absent, as servers of earlier revisions leave them out: then it is stale at once and
 * private.
 */
export type Received<T> = { [K in keyof T as K extends "ttlMs" | "cacheScope" ? never : K]: T[K] } & {
  ttlMs?: number;
  cacheScope?: "public" | "private";
};

/** True for the result of `tools/call`. */
export function isCallToolResult(value: unknown): value is CallToolResult {
  return isComplete(value) && isArrayOf(value.content, isContentBlock) && isOptionalBoolean(value.isError);
}

/** True for the result of `prompts/get`. */
export function isGetPromptResult(value: unknown): value is GetPromptResult {
  return isComplete(value) && isOptionalString(value.description) && isArrayOf(value.messages, isPromptMessage);
}

/** True for the result of `resources/read`. */
export function isReadResourceResult(value: unknown): value is Received<ReadResourceResult> {
  return isComplete(value) && isCacheable(value) && isArrayOf(value.contents, isResourceContents);
}

/** True for a page of `tools/list`. */
export function isListToolsResult(value: unknown): value is Received<ListToolsResult> {
  return isPage(value) && isArrayOf(value.tools, isTool);
}

/** True for a page of `prompts/list`. */
export function isListPromptsResult(value: unknown): value is Received<ListPromptsResult> {
  return isPage(value) && isArrayOf(value.prompts, isPrompt);
}

/** True for a page of `resources/list`. */
export function isListResourcesResult(value: unknown): value is Received<ListResourcesResult> {
  return isPage(value) && isArrayOf(value.resources, isResource);
}

/** True for a page of `resources/templates/list`. */
export function isListResourceTemplatesResult(value: unknown): value is Received<ListResourceTemplatesResult> {
  return isPage(value) && isArrayOf(value.resourceTemplates, isResourceTemplate);
}

/** True for the result of `completion/complete`; more than 100 values are refused. */
export function isCompleteResult(value: unknown): value is CompleteResult {
  if (!isComplete(value) || !isObject(value.completion)) return false;
  const { values, total, hasMore } = value.completion;
  return (
    isStrings(values) &&
    values.length <= 100 &&
    (total === undefined || Number.isSafeInteger(total)) &&
    isOptionalBoolean(hasMore)
  );
}

/** True for what a server offers; members that the revision does not know may be anything. */
export function isServerCapabilities(value: unknown): value is ServerCapabilities {
  if (!isObject(value)) return false;
  const { tools, prompts, resources } = value;
  return (
    isOptionalObject(value.logging) &&
    isOptionalObject(value.completions) &&
    (tools === undefined || (isObject(tools) && isOptionalBoolean(tools.listChanged))) &&
    (prompts === undefined || (isObject(prompts) && isOptionalBoolean(prompts.listChanged))) &&
    (resources === undefined ||
      (isObject(resources) && isOptionalBoolean(resources.listChanged) && isOptionalBoolean(resources.subscribe))) &&
    (value.extensions === undefined || isRecordOf(value.extensions, isObject)) &&
    (value.experimental === undefined || isRecordOf(value.experimental, isObject))
  );
}

/** True for the result of `server/discover`. */
export function isDiscoverResult(value: unknown): value is Received<DiscoverResult> {
  return (
    isComplete(value) &&
    isCacheable(value) &&
    isStrings(value.supportedVersions) &&
    isServerCapabilities(value.capabilities) &&
    isOptionalString(value.instructions)
  );
}

function hasMeta(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const meta = value._meta;
  if (meta === undefined) return true;
  return isObject(meta) && (meta[META.subscriptionId] === undefined || isRequestId(meta[META.subscriptionId]));
}

/** True for the params of `notifications/cancelled`. */
export function isCancelledParams(value: unknown): value is CancelledNotificationParams {
  return hasMeta(value) && isRequestId(value.requestId) && isOptionalString(value.reason);
}

/** True for the params of `notifications/progress`. */
export function isProgressParams(value: unknown): value is ProgressNotificationParams {
  return (
    hasMeta(value) &&
    isProgressToken(value.progressToken) &&
    typeof value.progress === "number" &&
    (value.total === undefined || typeof value.total === "number") &&
    isOptionalString(value.message)
  );
}

/** True for the params of `notifications/message`. */
export function isLoggingMessageParams(value: unknown): value is LoggingMessageNotificationParams {
  return hasMeta(value) && isLoggingLevel(value.level) && isOptionalString(value.logger) && value.data !== undefined;
}

/** True for the params of `notifications/resources/updated`. */
export function isResourceUpdatedParams(value: unknown): value is ResourceUpdatedNotificationParams {
  return hasMeta(value) && typeof value.uri === "string";
}

/** True for the params of `notifications/subscriptions/acknowledged`. */
export function isAcknowledgedParams(value: unknown): value is SubscriptionsAcknowledgedNotificationParams {
  return hasMeta(value) && isSubscriptionFilter(value.notifications);
}
