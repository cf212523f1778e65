// Guards for the params of notifications. A notification that fails its guard is dropped: nobody waits for an answer to it.
import { isLoggingLevel, isObject, isOptionalString, isProgressToken, isRequestId } from "./guards.ts";
import { META } from "./json-rpc.ts";
import type {
  CancelledNotificationParams,
  LoggingMessageNotificationParams,
  ProgressNotificationParams,
  ResourceUpdatedNotificationParams,
  SubscriptionsAcknowledgedNotificationParams,
} from "./notifications.ts";
import { isSubscriptionFilter } from "./request-guards.ts";

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
