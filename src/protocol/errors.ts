import type { RequestId } from "./json-rpc.ts";

/**
 * The standard and MCP error codes a peer may send, by the specification's names.
 *
 * `RateLimited` and `Unavailable` are ours and lie outside the ranges that JSON-RPC and MCP reserve.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  HeaderMismatch: -32020,
  MissingRequiredClientCapability: -32021,
  UnsupportedProtocolVersion: -32022,
  RateLimited: 42900,
  /** The server did not take the request, since it closes: another instance will. */
  Unavailable: 50300,
} as const;

const volleyBrand = Symbol.for("volley-mcp.VolleyError");
const rpcBrand = Symbol.for("volley-mcp.RpcError");

/** What a {@link VolleyError} can be, by its `code`. */
export type VolleyErrorCode =
  | "aborted" // the caller's AbortSignal fired
  | "ask_reused" // two questions under one key in one run
  | "cancelled" // the person dismissed the question
  | "closed" // the connection or server was closed
  | "conflict" // something was done on other answers, see Conflict
  | "connection_failed" // the peer could not be reached, or broke off
  | "context_misused" // a context call inside a step, after the end, or un-awaited
  | "declined" // the person said no
  | "effect_failed" // a recorded failure of `once`
  | "effect_in_doubt" // nobody knows whether the effect happened
  | "effect_running" // the effect is still running elsewhere
  | "form_unsupported" // a schema that the flat form cannot say
  | "invalid_options" // an option that cannot be, or a set-up that is not safe
  | "json_unsupported" // a value that JSON does not carry
  | "keys_invalid" // a key that is none
  | "keys_missing" // a set-up that needs keys and has none
  | "ledger_unavailable" // the shared record did not answer
  | "legacy_server" // the server speaks only revisions with `initialize`
  | "message_invalid" // a peer's message that is none
  | "no_answer" // unusable answers, three times
  | "no_handler" // nobody to answer this kind of question
  | "question_changed" // a question that is another each round
  | "registration_invalid" // a tool, prompt or resource that cannot be registered
  | "round_limit" // more rounds than allowed
  | "state_refused" // see `reason`; never told to a peer
  | "state_too_large" // a journal over its limit
  | "timeout" // a limit of time was reached
  | "tool_error"; // a handler's words for its caller, see ToolError

/**
 * An error of this process: a misuse, a set-up that is not safe, a limit, a peer that broke the protocol.
 *
 * `code` is a stable string; `message` says what to do. Errors that came over the wire are {@link RpcError}.
 *
 * @example
 * ```ts
 * try { createServer({ name: "tracker", version: "1.0.0" }); }
 * catch (error) { if (VolleyError.is(error) && error.code === "keys_missing") printSetup(); }
 * ```
 */
export class VolleyError extends Error {
  readonly code: VolleyErrorCode;

  constructor(code: VolleyErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "VolleyError";
    this.code = code;
    Object.defineProperty(this, volleyBrand, { value: true });
  }

  /** True for a VolleyError of any copy of this package. */
  static is(value: unknown): value is VolleyError {
    return typeof value === "object" && value !== null && volleyBrand in value;
  }
}

/**
 * An error whose message is for the caller: thrown in a handler, of a tool or any other, it is told as it is, and is no fault
 * for the operator. Of other errors callers hear the message only where `createServer` has `errors: "show"`.
 *
 * @example
 * ```ts
 * if (bug === undefined) throw new ToolError(`There is no bug #${id}.`);
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 */
export class ToolError extends VolleyError {
  constructor(message: string, options?: ErrorOptions) {
    super("tool_error", message, options);
    this.name = "ToolError";
  }
}

/**
 * A JSON-RPC error: thrown in a handler it reaches the client as it is; thrown by a client it came from the server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-responses
 */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  /** The id of the request that it answers, where that could be read. */
  readonly requestId: RequestId | undefined;

  constructor(code: number, message: string, data?: unknown, options?: ErrorOptions & { requestId?: RequestId }) {
    super(message, options);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
    this.requestId = options?.requestId;
    Object.defineProperty(this, rpcBrand, { value: true });
  }

  /** True for an RpcError of any copy of this package. */
  static is(value: unknown): value is RpcError {
    return typeof value === "object" && value !== null && rpcBrand in value;
  }
}
