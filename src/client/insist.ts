// Requests that are sent again while the server cannot take them.
import { ErrorCode, RpcError, VolleyError } from "../protocol/index.ts";
import { httpFailureOf, retryAfterMs } from "./http-failure.ts";
import { reconnectPace, sleep } from "./pause.ts";
import type { Transport } from "./transport.ts";

/** A request, as far as it matters to whether it may be sent again. */
export interface Attempts {
  readonly kind: Transport["kind"];
  readonly method: string;
  /**
   * Where a request may be sent twice and is worth some patience, since a server may be restarted in the middle of a task:
   * whether it may be sent again after this failure.
   */
  readonly mayRepeat: ((error: unknown) => boolean) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly closing: AbortSignal;
  /** How long the server may ask to wait, all in all. */
  readonly patienceMs: number;
}

/** Some four seconds: until another instance serves. */
const MAX_REFUSALS = 4;
/** About a minute with its pauses. */
const MAX_ATTEMPTS = 8;

/**
 * Sends a request, and again as long as the server says that it did not take it, or it never got there: at the pace of
 * `Retry-After` where there is one, otherwise at our own a few times.
 */
export async function untilTaken<T>(attempts: Attempts, send: () => Promise<T>): Promise<T> {
  let waitedMs = 0;
  for (let attempt = 1; ; attempt++) {
    let pauseMs: number;
    try {
      return await send();
    } catch (error) {
      const next = pauseAfter(error, attempt, attempts, waitedMs);
      if (next === undefined) throw error;
      pauseMs = next;
    }
    await sleep(pauseMs, attempts.signal, attempts.closing);
    waitedMs += pauseMs;
  }
}

/** How long to wait before the request is sent again; undefined when it is not. */
function pauseAfter(error: unknown, attempt: number, attempts: Attempts, waitedMs: number): number | undefined {
  const { mayRepeat, patienceMs } = attempts;
  if (!wasNotTaken(error, attempts) && !mayRepeat?.(error)) return undefined;
  const askedMs = retryAfterMs(httpFailureOf(error)?.retryAfter);
  if (askedMs === undefined) {
    const most = mayRepeat === undefined ? MAX_REFUSALS : MAX_ATTEMPTS;
    return attempt < most ? reconnectPace(attempt) : undefined;
  }
  if (waitedMs + askedMs > patienceMs) return undefined;
  // Many clients may have been told the same.
  return Math.max(reconnectPace(attempt), askedMs * (1 + Math.random() / 10));
}

// What changes nothing is sent again after a bare 503 too.
const READS = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "prompts/get",
  "resources/read",
  "completion/complete",
  "subscriptions/listen",
  "tasks/get",
]);

function wasNotTaken(error: unknown, { kind, method }: Attempts): boolean {
  // A server process that has ended is not started again.
  if (kind === "stdio") return false;
  if (RpcError.is(error) && error.code === ErrorCode.Unavailable) return true;
  const failure = httpFailureOf(error);
  if (failure === undefined)
    return VolleyError.is(error) && error.code === "connection_failed" && neverConnected(error.cause);
  // A proxy's bare 503 may mean that the server broke off, whatever it had done.
  return failure.status === 429 || (failure.status === 503 && (failure.retryAfter !== undefined || READS.has(method)));
}

// By Node, by the fetch of Node, by Bun.
const REFUSALS: readonly unknown[] = ["ECONNREFUSED", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT", "ConnectionRefused"];

/** Whether no connection came about, so that nobody can have heard of the request. */
function neverConnected(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const { code, syscall } = cause as NodeJS.ErrnoException;
  if (REFUSALS.includes(code) || syscall === "connect") return true;
  // One error for each address that was tried; and fetch has the system's error as a cause.
  return neverConnected(cause instanceof AggregateError ? cause.errors[0] : cause.cause);
}

// A server whose store does not answer says "internal error".
const PASSING_CODES: readonly number[] = [ErrorCode.RateLimited, ErrorCode.Unavailable, ErrorCode.InternalError];

/** Whether a failure may be over soon, whatever became of the request. */
export function mayPass(error: unknown, kind: Transport["kind"]): boolean {
  if (RpcError.is(error)) return PASSING_CODES.includes(error.code);
  if (!VolleyError.is(error)) return false;
  if (error.code === "timeout") return true;
  if (error.code !== "connection_failed" || kind === "stdio") return false;
  const failure = httpFailureOf(error);
  return failure === undefined || failure.status === 429 || failure.status >= 500;
}
