// Telling a server of an older revision from one that answers with an error.
import { ErrorCode, isObject, isStrings, PROTOCOL_VERSION, type RpcError, VolleyError } from "../protocol/index.ts";
import { httpFailureOf } from "./http-failure.ts";

// No older server has these.
const OWN_CODES: readonly number[] = [
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingRequiredClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
  ErrorCode.RateLimited,
  ErrorCode.Unavailable,
];

/** Whether only a server of this revision can have sent the error. */
export function isOfThisRevision({ code }: RpcError): boolean {
  return OWN_CODES.includes(code);
}

// Credentials, time, size and rate are refused alike in all revisions.
const OF_ANY_REVISION = new Set([401, 403, 407, 408, 413, 429, 431]);

/** Whether an HTTP status says that the server could not make anything of a well-formed request of this revision. */
export function isPuzzled(status: number): boolean {
  return status >= 400 && status < 500 && !OF_ANY_REVISION.has(status);
}

/**
 * Whether an error of `server/discover`, which every server of this revision has, can only come from an older one;
 * `isKnown` says that the server has answered as one of this revision.
 */
export function isOlderServers(error: RpcError, isKnown: boolean): boolean {
  if (isOfThisRevision(error)) return false;
  if (error.code === ErrorCode.MethodNotFound) return true;
  const { status } = httpFailureOf(error) ?? { status: 200 };
  return !isKnown && (status < 400 || isPuzzled(status));
}

/** The error for what an older server would have answered, from an address where one of this revision has answered before. */
export function goneServer(address: string, { cause }: VolleyError): VolleyError {
  return new VolleyError(
    "connection_failed",
    `The server at ${address} has answered before, but is not there any more (${cause instanceof Error ? cause.message : cause}): try again later.`,
    { cause },
  );
}

/** The error for a server that does not know `server/discover`. */
export function olderServer(address: string, cause: unknown): VolleyError {
  return new VolleyError(
    "legacy_server",
    `The server at ${address} does not know server/discover: it does not speak revision ${PROTOCOL_VERSION} but an older one (or none), and has to be updated or reached by its own client.`,
    { cause },
  );
}

/**
 * Throws unless a server that has refused our version says that it speaks it: then one more try is worth it (a fleet in
 * the middle of an upgrade answers like that).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
 */
export function checkVersions(data: unknown, address: string): void {
  const supported = isObject(data) && isStrings(data.supported) ? data.supported : [];
  if (supported.includes(PROTOCOL_VERSION)) return;
  const spoken = supported.length === 0 ? "does not say which revisions it speaks" : `speaks ${supported.join(", ")}`;
  throw new VolleyError(
    "legacy_server",
    `The server at ${address} does not speak revision ${PROTOCOL_VERSION}: it ${spoken}. Use a client that speaks one of its revisions, or update the server.`,
  );
}
