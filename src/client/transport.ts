// The seam between the client and whatever carries its messages.
import type { JSONRPCNotification, JSONRPCRequest, JSONRPCResponse } from "../protocol/index.ts";

/** What goes with one request. */
export interface SendOptions {
  /** Headers that mirror the request (`mcp-method`, `mcp-name`, ...), names in lower case; for transports without headers to ignore. */
  readonly headers: Readonly<Record<string, string>>;
  /** Fires when nobody waits for the answer any more; its `reason` is the error that {@link Transport.send} has to reject with. */
  readonly signal: AbortSignal;
  /** Receives what the server says about this request before it answers, in order. */
  readonly onNotification: (notification: JSONRPCNotification) => void;
}

/**
 * Carries requests to one server.
 *
 * Requests may overlap. A transport does not repeat requests, and does not read what it carries further than it needs
 * to tell which answer belongs to which request.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
export interface Transport {
  /** `http`: headers are sent, and `Mcp-Param-*` with them. `stdio`: the client asks who is there before its first request. */
  readonly kind: "http" | "stdio" | "memory";
  /** Who is at the other end, for people to read: an origin, a command. */
  readonly address: string;
  /**
   * Sends one request and resolves with its answer, which may be an error response; one that came with an HTTP status of
   * 400 or more is thrown as RpcError, with that as its cause ({@link HttpFailure}).
   *
   * Rejects with `signal.reason` when the signal fires, and tells the server that the request is cancelled; with a
   * VolleyError `connection_failed` when the server cannot be reached or breaks off, `closed` after {@link close},
   * `message_invalid` when what came is no answer, `legacy_server` when it can only have come from an older server.
   */
  send(request: JSONRPCRequest, options: SendOptions): Promise<JSONRPCResponse>;
  /** Ends what is open; requests that still wait are rejected with `closed`. */
  close(): Promise<void>;
}
