// What both HTTP transports have in common: the fixed headers, and how a reply is read.
import { type JSONRPCRequest, type JSONRPCResponse, VolleyError } from "../protocol/index.ts";
import { rpcErrorOf } from "./errors.ts";
import { type HttpFailure, httpFailure } from "./http-failure.ts";
import { isNotification, parseMessage } from "./messages.ts";
import { isPuzzled } from "./revision.ts";
import { answers } from "./sse.ts";

/** Headers for every request, such as `Authorization`: fixed, or made anew for each one. */
export type HeaderSource =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** A reply as both transports see it. */
export interface HttpReply {
  readonly status: number;
  readonly text: string;
  header(name: string): string | undefined;
}

const OWN_HEADERS = new Set(["accept", "connection", "content-length", "content-type", "host", "transfer-encoding"]);

/** The headers that never change. */
export const FIXED_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

/** Checks a caller's headers: those of HTTP and of the protocol are ours to set. Names come back in lower case. */
export function callerHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const read: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(headers)) {
    const name = key.toLowerCase();
    if (OWN_HEADERS.has(name) || name.startsWith("mcp-")) {
      throw new VolleyError(
        "invalid_options",
        `The header ${key} is set by the client itself: leave it out of \`headers\`.`,
      );
    }
    read[name] = value;
  }
  return read;
}

/** Checks the address of a server. */
export function serverUrl(url: string | URL): URL {
  let read: URL;
  try {
    read = new URL(url);
  } catch (cause) {
    throw new VolleyError(
      "invalid_options",
      `"${url}" is not a URL: give the full address of the server's MCP endpoint.`,
      { cause },
    );
  }
  if (read.protocol !== "https:" && read.protocol !== "http:") {
    throw new VolleyError(
      "invalid_options",
      `${read.protocol} is no address of an MCP server: use https or http, or { command, args } for stdio.`,
    );
  }
  if (read.username !== "" || read.password !== "") {
    throw new VolleyError(
      "invalid_options",
      "A server's address holds no user name or password: send them in `headers`.",
    );
  }
  return read;
}

/** True for the media type of an SSE stream, whatever its parameters. */
export function isEventStream(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*text\/event-stream\s*(;|$)/i.test(contentType);
}

// Error codes of servers of earlier revisions for a request without a session: "not initialized", "no such session",
// "missing session id". No server of this revision answers a well-formed request with one of them.
const LEGACY_CODES = new Set([-32000, -32001, -32600]);

/**
 * Reads a whole reply.
 *
 * A 400, 404 or 405 (or the like) without an error that this revision knows means a server of an earlier revision (or none).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#backward-compatibility
 */
export function readReply(reply: HttpReply, request: JSONRPCRequest, address: string): JSONRPCResponse {
  const { status } = reply;
  const message = parseMessage(reply.text);
  if (message !== undefined && !isNotification(message) && answers(message, request.id)) {
    if (!("error" in message) || status < 400) return message;
    if (!isPuzzled(status) || !LEGACY_CODES.has(message.error.code))
      throw rpcErrorOf(message, { cause: httpFailure(status, reply.header) });
  }
  const cause = httpFailure(status, reply.header);
  if (isPuzzled(status)) {
    throw new VolleyError(
      "legacy_server",
      `No server of revision 2026-07-28 answers at ${address} (HTTP ${status}). Check the address; a server of an older revision, which wants \`initialize\`, has to be updated or reached by its own client.`,
      { cause },
    );
  }
  if (status >= 200 && status < 300) {
    throw new VolleyError(
      "message_invalid",
      `The server at ${address} answered ${request.method} with something that is no answer to it (HTTP ${status}).`,
      { cause },
    );
  }
  throw new VolleyError(
    "connection_failed",
    `The server at ${address} answered HTTP ${status}${remedy(cause, address)}.`,
    {
      cause,
    },
  );
}

function remedy({ status, location, retryAfter }: HttpFailure, address: string): string {
  if (status === 401) return ": give valid credentials in `headers`";
  if (status === 403) return ": these credentials or this origin are not allowed";
  if (status >= 300 && status < 400)
    return `: use the address it redirects to${location === undefined ? "" : `, ${target(location, address)}`}`;
  if (status === 429 || status === 503)
    return `: try again ${retryAfter === undefined ? "later" : `after ${retryAfter}`}`;
  return "";
}

function target(location: string, address: string): string {
  return URL.canParse(location, address) ? new URL(location, address).href : location;
}
