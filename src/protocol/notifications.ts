// Notifications: subscriptions to changes, cancellation, progress, log messages.
import type {
  LoggingLevel,
  NotificationParams,
  ProgressToken,
  RequestId,
  RequestParams,
  Result,
  ResultMetaObject,
} from "./json-rpc.ts";

interface NotificationBase {
  jsonrpc: "2.0";
}

/** The notifications that a client wants to hear; nothing else may be sent to it. */
export interface SubscriptionFilter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  /** URIs of resources to watch. */
  resourceSubscriptions?: string[];
  /** Ids of tasks to watch, of the extension `io.modelcontextprotocol/tasks`. */
  taskIds?: string[];
}

export type SubscriptionsListenRequestParams = RequestParams & { notifications: SubscriptionFilter };

/** @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions */
export interface SubscriptionsListenRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "subscriptions/listen";
  params: SubscriptionsListenRequestParams;
}

export interface SubscriptionsListenResultMetaObject extends ResultMetaObject {
  "io.modelcontextprotocol/subscriptionId": RequestId;
}

export interface SubscriptionsListenResult extends Result {
  _meta: SubscriptionsListenResultMetaObject;
}

export type SubscriptionsAcknowledgedNotificationParams = NotificationParams & { notifications: SubscriptionFilter };

export interface SubscriptionsAcknowledgedNotification extends NotificationBase {
  method: "notifications/subscriptions/acknowledged";
  params: SubscriptionsAcknowledgedNotificationParams;
}

export interface ToolListChangedNotification extends NotificationBase {
  method: "notifications/tools/list_changed";
  params?: NotificationParams;
}

export interface PromptListChangedNotification extends NotificationBase {
  method: "notifications/prompts/list_changed";
  params?: NotificationParams;
}

export interface ResourceListChangedNotification extends NotificationBase {
  method: "notifications/resources/list_changed";
  params?: NotificationParams;
}

export type ResourceUpdatedNotificationParams = NotificationParams & { uri: string };

export interface ResourceUpdatedNotification extends NotificationBase {
  method: "notifications/resources/updated";
  params: ResourceUpdatedNotificationParams;
}

export type CancelledNotificationParams = NotificationParams & { requestId: RequestId; reason?: string };

/** Ends a request on stdio; over HTTP closing its stream does that. */
export interface CancelledNotification extends NotificationBase {
  method: "notifications/cancelled";
  params: CancelledNotificationParams;
}

export type ProgressNotificationParams = NotificationParams & {
  progressToken: ProgressToken;
  /** Rises with every notification. */
  progress: number;
  total?: number;
  message?: string;
};

export interface ProgressNotification extends NotificationBase {
  method: "notifications/progress";
  params: ProgressNotificationParams;
}

export type LoggingMessageNotificationParams = NotificationParams & {
  level: LoggingLevel;
  logger?: string;
  data: unknown;
};

/** @deprecated by the specification: log to stderr or by OpenTelemetry. */
export interface LoggingMessageNotification extends NotificationBase {
  method: "notifications/message";
  params: LoggingMessageNotificationParams;
}

/** Every notification a client may send. */
export type ClientNotification = CancelledNotification;

/** Every notification a server may send. */
export type ServerNotification =
  | CancelledNotification
  | ProgressNotification
  | LoggingMessageNotification
  | ResourceUpdatedNotification
  | ResourceListChangedNotification
  | ToolListChangedNotification
  | PromptListChangedNotification
  | SubscriptionsAcknowledgedNotification;
