// What a reply over HTTP said besides its body, where it was no success.
import { isObject } from "../protocol/index.ts";

/**
 * The `cause` of an error whose reply had an HTTP status of its own: of a `connection_failed` or `legacy_server` without
 * a message in the reply, and of an RpcError whose status was 400 or more.
 */
export interface HttpFailure extends Error {
  readonly status: number;
  /** `WWW-Authenticate`, which says how to authorize after a 401. */
  readonly wwwAuthenticate: string | undefined;
  /** `Retry-After`, as it came. */
  readonly retryAfter: string | undefined;
  /** `Location`, where a redirect leads, as it came. */
  readonly location: string | undefined;
}

/** Makes the cause of an error. */
export function httpFailure(status: number, header: (name: string) => string | undefined): HttpFailure {
  return Object.assign(new Error(`HTTP ${status}`), {
    name: "HttpFailure",
    status,
    wwwAuthenticate: header("www-authenticate"),
    retryAfter: header("retry-after"),
    location: header("location"),
  });
}

/** What HTTP said of an error; undefined where it said nothing. */
export function httpFailureOf(error: unknown): HttpFailure | undefined {
  const cause: unknown = isObject(error) ? error.cause : undefined;
  return cause instanceof Error && "retryAfter" in cause && "status" in cause ? (cause as HttpFailure) : undefined;
}

/** Milliseconds until the time that a `Retry-After` names, in seconds or as a date; undefined for what names none. */
export function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
