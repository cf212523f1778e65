// Guards for the envelope of a message. They read what JSON.parse returned: plain objects whose fixed members are own ones.
import { ErrorCode, RpcError, VolleyError } from "./errors.ts";
import {
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  META,
  type RequestId,
  type RequestMetaObject,
} from "./json-rpc.ts";
import type { LoggingLevel } from "./notifications.ts";
import type { ClientCapabilities, Icon, Implementation } from "./peer.ts";

/** The log levels, from the least grave to the gravest. */
export const LOGGING_LEVELS: readonly LoggingLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/** True for an object that is neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for a string, or an integer that a double holds exactly: an id that would come back changed answers nobody. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** True for what {@link isRequestId} accepts: a progress token is the same kind of thing. */
export const isProgressToken: (value: unknown) => value is RequestId = isRequestId;

/** True for one of {@link LOGGING_LEVELS}. */
export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return LOGGING_LEVELS.includes(value as LoggingLevel);
}

/** True for a string or nothing. */
export function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

/** True for a boolean or nothing. */
export function isOptionalBoolean(value: unknown): value is boolean | undefined {
  return value === undefined || typeof value === "boolean";
}

/** True for an object or nothing. */
export function isOptionalObject(value: unknown): value is Record<string, unknown> | undefined {
  return value === undefined || isObject(value);
}

/** True for an array of which every element passes `guard`. */
export function isArrayOf<T>(value: unknown, guard: (element: unknown) => element is T): value is T[] {
  if (!Array.isArray(value)) return false;
  for (let i = 0; i < value.length; i++) {
    if (!guard(value[i])) return false;
  }
  return true;
}

/** True for an object of which every own value passes `guard`, whatever the keys are. */
export function isRecordOf<T>(value: unknown, guard: (element: unknown) => element is T): value is Record<string, T> {
  if (!isObject(value)) return false;
  return Object.values(value).every((element) => guard(element));
}

/** True for a string. */
export function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** True for the pictures of a list entry. */
export function isIcon(value: unknown): value is Icon {
  return (
    isObject(value) &&
    typeof value.src === "string" &&
    isOptionalString(value.mimeType) &&
    (value.sizes === undefined || isArrayOf(value.sizes, isString)) &&
    (value.theme === undefined || value.theme === "light" || value.theme === "dark")
  );
}

/** True for a client's or server's description of itself. */
export function isImplementation(value: unknown): value is Implementation {
  return (
    isObject(value) &&
    typeof value.name === "string" &&
    typeof value.version === "string" &&
    isOptionalString(value.title) &&
    isOptionalString(value.description) &&
    isOptionalString(value.websiteUrl) &&
    (value.icons === undefined || isArrayOf(value.icons, isIcon))
  );
}

/** True for a client's capabilities; members that the revision does not know may be anything. */
export function isClientCapabilities(value: unknown): value is ClientCapabilities {
  if (!isObject(value)) return false;
  const { elicitation, sampling } = value;
  return (
    (elicitation === undefined ||
      (isObject(elicitation) && isOptionalObject(elicitation.form) && isOptionalObject(elicitation.url))) &&
    (sampling === undefined ||
      (isObject(sampling) && isOptionalObject(sampling.tools) && isOptionalObject(sampling.context))) &&
    isOptionalObject(value.roots) &&
    (value.extensions === undefined || isRecordOf(value.extensions, isObject)) &&
    (value.experimental === undefined || isRecordOf(value.experimental, isObject))
  );
}

function invalidRequest(message: string, id: unknown): RpcError {
  return isRequestId(id)
    ? new RpcError(ErrorCode.InvalidRequest, message, undefined, { requestId: id })
    : new RpcError(ErrorCode.InvalidRequest, message);
}

/**
 * What a server may receive: one request or one notification, as it was parsed.
 *
 * Throws {@link RpcError} -32600 for anything else, with the request's id where there is one: batches, responses, ids that are
 * null, fractional or beyond 2^53, params that are no object.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
export function readMessage(value: unknown): JSONRPCRequest | JSONRPCNotification {
  if (!isObject(value)) {
    throw invalidRequest(
      Array.isArray(value)
        ? "Batches are not part of this protocol: send one message at a time"
        : "A message is a JSON object",
      undefined,
    );
  }
  const { id } = value;
  if (value.jsonrpc !== "2.0") throw invalidRequest('A message has "jsonrpc": "2.0"', id);
  if (typeof value.method !== "string") {
    throw invalidRequest(
      "result" in value || "error" in value
        ? "A server takes no responses: answers go into inputResponses of the retried request"
        : 'A message has a "method", a string',
      id,
    );
  }
  if (id !== undefined && !isRequestId(id)) {
    throw invalidRequest("An id is a string or an integer within 2^53; leave it out in notifications", undefined);
  }
  if (!isOptionalObject(value.params)) throw invalidRequest('"params" is an object where it is present', id);
  return value as unknown as JSONRPCRequest | JSONRPCNotification;
}

/** True for a request among the messages that {@link readMessage} returns. */
export function isRequest(message: JSONRPCRequest | JSONRPCNotification): message is JSONRPCRequest {
  return (message as JSONRPCRequest).id !== undefined;
}

function invalidMeta(key: string, rule: string): RpcError {
  return new RpcError(ErrorCode.InvalidParams, `params._meta[${JSON.stringify(key)}] ${rule}`);
}

/**
 * The `_meta` of a request, as it came: nothing is copied.
 *
 * Throws {@link RpcError} -32602 when something the revision requires is missing or of the wrong kind.
 * Whether the version is one that the server speaks is not checked here.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export function readRequestMeta(params: unknown): RequestMetaObject {
  const meta = isObject(params) ? params._meta : undefined;
  if (!isObject(meta)) {
    throw new RpcError(
      ErrorCode.InvalidParams,
      `params._meta is required, with ${JSON.stringify(META.protocolVersion)} and ${JSON.stringify(META.clientCapabilities)}`,
    );
  }
  if (typeof meta[META.protocolVersion] !== "string") {
    throw invalidMeta(META.protocolVersion, "is required, a string");
  }
  if (!isClientCapabilities(meta[META.clientCapabilities])) {
    throw invalidMeta(META.clientCapabilities, "is required, an object of objects; {} declares none");
  }
  const info = meta[META.clientInfo];
  if (info !== undefined && !isImplementation(info)) {
    throw invalidMeta(META.clientInfo, "has at least a name and a version, strings");
  }
  const level = meta[META.logLevel];
  if (level !== undefined && !isLoggingLevel(level)) {
    throw invalidMeta(META.logLevel, `is one of ${LOGGING_LEVELS.join(", ")}`);
  }
  if (meta.progressToken !== undefined && !isProgressToken(meta.progressToken)) {
    throw invalidMeta("progressToken", "is a string or an integer");
  }
  return meta as RequestMetaObject;
}

function invalidAnswer(rule: string): VolleyError {
  return new VolleyError("message_invalid", `The server's message breaks the protocol: ${rule}`);
}

/**
 * What a client may receive: a response, or a notification before it.
 *
 * An absent `resultType` (servers of earlier revisions) becomes `"complete"` in place, and the null id that JSON-RPC has in
 * errors about unreadable requests becomes absent. Throws {@link VolleyError} message_invalid for anything else, a server's
 * request included.
 */
export function readServerMessage(value: unknown): JSONRPCResponse | JSONRPCNotification {
  if (!isObject(value) || value.jsonrpc !== "2.0") throw invalidAnswer('a message is one object with "jsonrpc": "2.0"');
  if (value.method === undefined) return readResponse(value);
  if (typeof value.method !== "string" || !isOptionalObject(value.params)) {
    throw invalidAnswer("a notification has a method, a string, and params that are an object");
  }
  // Spec, transports: a server never sends a request of its own.
  if (value.id !== undefined) throw invalidAnswer("servers send no requests in this revision");
  return value as unknown as JSONRPCNotification;
}

/** The response among the messages that {@link readServerMessage} reads, by the same rules. */
export function readResponse(value: unknown): JSONRPCResponse {
  if (!isObject(value) || value.jsonrpc !== "2.0")
    throw invalidAnswer('a response is one object with "jsonrpc": "2.0"');
  const { error, result, id } = value;
  if (error !== undefined) {
    if (!isObject(error) || !Number.isSafeInteger(error.code) || typeof error.message !== "string") {
      throw invalidAnswer("an error has an integer code and a message");
    }
    if (id === null) delete value.id;
    else if (id !== undefined && !isRequestId(id)) throw invalidAnswer("an id is a string or an integer");
    return value as unknown as JSONRPCResponse;
  }
  if (!isRequestId(id)) throw invalidAnswer("a result carries the id of its request");
  if (!isObject(result)) throw invalidAnswer("a response has a result, an object, or an error");
  if (!isOptionalString(result.resultType)) throw invalidAnswer("resultType is a string");
  const meta = result._meta;
  // So some libraries write what is absent.
  if (meta === null) delete result._meta;
  else if (meta !== undefined) {
    if (!isObject(meta)) throw invalidAnswer("_meta is an object");
    const info = meta[META.serverInfo];
    if (info !== undefined && !isImplementation(info)) {
      throw invalidAnswer("serverInfo has at least a name and a version, strings");
    }
  }
  // Clients MUST treat an absent type as complete.
  if (result.resultType === undefined) result.resultType = "complete";
  return value as unknown as JSONRPCResponse;
}
