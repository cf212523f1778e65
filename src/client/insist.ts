// Requests that are sent again while the server cannot take them.
import { ErrorCode, isObject, RpcError, VolleyError } from "../protocol/index.ts";
import type { Connection } from "./connection.ts";
import { reconnectPace, sleep } from "./pause.ts";

/** About a minute with its pauses: a server may be restarted in the middle of a task. */
const MAX_ATTEMPTS = 8;
/** Some four seconds: until another instance serves. */
const MAX_REFUSALS = 4;

// A server whose store does not answer says "internal error".
const PASSING_CODES: readonly number[] = [ErrorCode.RateLimited, ErrorCode.Unavailable, ErrorCode.InternalError];

/** Sends what may be sent twice, as long as the server cannot be reached for the moment. */
export function insist<T>(connection: Connection, signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> {
  return repeat(connection, signal, send, (error) => mayPass(error, connection), MAX_ATTEMPTS);
}

/** Sends what must not be done twice: again only after a server has said that it did not take it, as one does that closes. */
export function untilTaken<T>(
  connection: Connection,
  signal: AbortSignal | undefined,
  send: () => Promise<T>,
): Promise<T> {
  return repeat(connection, signal, send, (error) => wasNotTaken(error, connection), MAX_REFUSALS);
}

async function repeat<T>(
  connection: Connection,
  signal: AbortSignal | undefined,
  send: () => Promise<T>,
  isPassing: (error: unknown) => boolean,
  most: number,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (attempt === most || !isPassing(error)) throw error;
    }
    await sleep(reconnectPace(attempt), signal, connection.closing);
  }
}

function wasNotTaken(error: unknown, connection: Connection): boolean {
  // A proxy's bare 503 may mean that the server broke off, whatever it had done.
  return RpcError.is(error) && error.code === ErrorCode.Unavailable && connection.kind !== "stdio";
}

function mayPass(error: unknown, connection: Connection): boolean {
  if (RpcError.is(error)) return PASSING_CODES.includes(error.code);
  if (!VolleyError.is(error)) return false;
  if (error.code === "timeout") return true;
  // A server process that has ended is not started again.
  if (error.code !== "connection_failed" || connection.kind === "stdio") return false;
  const status = isObject(error.cause) ? error.cause.status : undefined;
  return typeof status !== "number" || status === 429 || status >= 500;
}
