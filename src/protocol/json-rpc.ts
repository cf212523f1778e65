// The envelope: messages, `_meta`, and what every request, notification and result has.
import type { ClientCapabilities, Implementation } from "./peer.ts";

/** The one protocol revision that this package speaks. */
export const PROTOCOL_VERSION = "2026-07-28";

/**
 * The reserved keys of `_meta`, by short names.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#meta
 */
export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

/** Identifies a request among those its sender still waits for: a string, or an integer; never null. */
export type RequestId = string | number;

/** A client's own mark on a request, repeated in every progress notification for it. */
export type ProgressToken = string | number;

/** Where a list goes on: opaque to the client. */
export type Cursor = string;

/** Extra data beside a message's own fields, keyed `prefix/name`. */
export type MetaObject = Record<string, unknown>;

/** How grave a log message is, as syslog counts, from the least to the most. */
export type LoggingLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** The `_meta` of a request: who is asking, in which revision, and what it can do. */
export interface RequestMetaObject extends MetaObject {
  progressToken?: ProgressToken;
  "io.modelcontextprotocol/protocolVersion": string;
  "io.modelcontextprotocol/clientInfo"?: Implementation;
  "io.modelcontextprotocol/clientCapabilities": ClientCapabilities;
  /** @deprecated by the specification, together with logging; absent means that no log message may be sent. */
  "io.modelcontextprotocol/logLevel"?: LoggingLevel;
}

/** The `_meta` of a notification. */
export interface NotificationMetaObject extends MetaObject {
  /** The id of the `subscriptions/listen` request on whose stream this came. */
  "io.modelcontextprotocol/subscriptionId"?: RequestId;
}

/** The `_meta` of a result. */
export interface ResultMetaObject extends MetaObject {
  "io.modelcontextprotocol/serverInfo"?: Implementation;
}

/** What the params of every request hold. */
export type RequestParams = { _meta: RequestMetaObject };

/** What the params of every notification may hold. */
export type NotificationParams = { _meta?: NotificationMetaObject };

/** A message that wants an answer. */
export interface JSONRPCRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: string;
  params?: Record<string, unknown>;
}

/** A message that wants none. */
export interface JSONRPCNotification {
  jsonrpc: "2.0";
  method: string;
  params?: Record<string, unknown>;
}

/** How a result is to be read: finished, waiting for the client, or a type that an extension adds. */
export type ResultType = "complete" | "input_required" | (string & {});

/** What every result has. */
export interface Result {
  _meta?: ResultMetaObject;
  resultType: ResultType;
  [key: string]: unknown;
}

/** A result that says no more than that it worked. */
export type EmptyResult = Result;

/** The `error` member of an error response. */
export interface ErrorObject {
  code: number;
  message: string;
  data?: unknown;
}

/** The answer to a request that worked. */
export interface JSONRPCResultResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: Result;
}

/** The answer to a request that did not; without an id where the request's own could not be read. */
export interface JSONRPCErrorResponse {
  jsonrpc: "2.0";
  id?: RequestId;
  error: ErrorObject;
}

/** The answer to a request. */
export type JSONRPCResponse = JSONRPCResultResponse | JSONRPCErrorResponse;

/** Any message of the protocol. */
export type JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse;
