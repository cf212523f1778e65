// The errors that several files of the client make, and the tests for those that a server sends.
import { ErrorCode, isObject, type JSONRPCErrorResponse, RpcError, VolleyError } from "../protocol/index.ts";

/** The error of a call whose caller has given up, with the signal's own reason as its cause. */
export function abortedError(signal: AbortSignal): VolleyError {
  return new VolleyError("aborted", "The call was aborted by its signal.", { cause: signal.reason });
}

/** The error that a server has answered. */
export function rpcErrorOf({ id, error }: JSONRPCErrorResponse, options: ErrorOptions = {}): RpcError {
  return new RpcError(
    error.code,
    error.message,
    error.data,
    id === undefined ? options : { ...options, requestId: id },
  );
}

/** The error of everything that is still open when the client closes. */
export function closedError(): VolleyError {
  return new VolleyError("closed", "The client is closed: connect again.");
}

/**
 * True when the server refused the `requestState` of a call: it is expired, or was made for other arguments, another
 * user or another server. The call cannot go on; a host can offer to start it again from the beginning.
 *
 * @example
 * ```ts
 * try { await pending.continue(); }
 * catch (error) { if (isStateRefused(error)) await offerToStartAgain(); else throw error; }
 * ```
 */
export function isStateRefused(error: unknown): error is RpcError {
  return (
    RpcError.is(error) &&
    error.code === ErrorCode.InvalidParams &&
    isObject(error.data) &&
    Object.hasOwn(error.data, "reason") &&
    (error.data.reason === "state_refused" || error.data.reason === "state_expired")
  );
}

/** The code by which servers of earlier revisions say that a resource does not exist. */
const LEGACY_RESOURCE_NOT_FOUND = -32002;

/**
 * True when `readResource` failed because the server has no such resource (or refuses its URI): -32602, and -32002
 * from servers of earlier revisions. A refused state is not one of them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#error-handling
 */
export function isResourceNotFound(error: unknown): error is RpcError {
  const refused: boolean = isStateRefused(error);
  if (refused || !RpcError.is(error)) return false;
  return error.code === ErrorCode.InvalidParams || error.code === LEGACY_RESOURCE_NOT_FOUND;
}
