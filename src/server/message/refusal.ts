import type { Trace } from "../../flow/index.ts";
import { ErrorCode, RpcError } from "../../protocol/index.ts";

/** A JSON-RPC error that has an HTTP status of its own. */
export class Refusal extends RpcError {
  readonly status: number;
  /** Seconds, for `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(status: number, code: number, message: string, data?: unknown, retryAfter?: number) {
    super(code, message, data);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

export function headerMismatch(message: string): Refusal {
  return new Refusal(400, ErrorCode.HeaderMismatch, `Header mismatch: ${message}`);
}

/** What is over one of the server's limits: it is traced, and refused for so many seconds. */
export function tooMany(trace: Trace, limit: string, what: string, retryAfter: number): Refusal {
  trace({ type: "limited", limit });
  return new Refusal(429, ErrorCode.RateLimited, `${what} Try again in ${retryAfter} s.`, undefined, retryAfter);
}

export function invalidParams(message: string, data?: unknown): RpcError {
  return new RpcError(ErrorCode.InvalidParams, message, data);
}

export function methodNotFound(message: string): Refusal {
  return new Refusal(404, ErrorCode.MethodNotFound, message);
}
