import { ErrorCode } from "../protocol/index.ts";
import { FOR_OPERATORS } from "./admission.ts";
import type { HeaderReader, Settings } from "./options.ts";
import { errorResponse } from "./results.ts";

/** An answer that needs no message: header pairs flat, as node:http takes them. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string | undefined;
}

/** A request without its body. */
export interface Head extends HeaderReader {
  readonly method: string | undefined;
  /** The host of the request's URL, where requests may lack the header. */
  hostOfUrl?(): string;
  /** Bytes of header names and values; 0 where the platform is stricter than our limit. */
  headerBytes(): number;
}

/** What is judged of a request before its body is read. */
export interface HttpChecks {
  /** The answer that ends the request here, or undefined when its body may be read. */
  check(head: Head): HttpAnswer | undefined;
  /** Header pairs that let the calling page read the response; empty without an `Origin`. */
  cors(request: HeaderReader): readonly string[];
}

/** A refusal by HTTP status, with a JSON-RPC error that has no id. */
export function refuse(status: number, message: string, headers: readonly string[] = []): HttpAnswer {
  const code = status === 429 ? ErrorCode.RateLimited : ErrorCode.InvalidRequest;
  return { status, headers, body: errorResponse(undefined, code, message) };
}

const ALLOW = ["Allow", "POST, OPTIONS"];
const NO_HEADERS: readonly string[] = [];
const JSON_TYPE = "application/json";

/**
 * Builds the checks in the order in which they are made: method, Host, Origin (and preflight), content type, Accept.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-endpoint
 */
export function createHttpChecks(settings: Settings): HttpChecks {
  const acceptsHost = remembering(hostRule(settings.allowedHosts));
  const acceptable = remembering((accept) => ACCEPTED.test(accept));
  const acceptsOrigin = originRule(settings);
  const { cors, limits, trace } = settings;
  const { allowHeaders: more = [], maxAgeSeconds = 600 } = cors === false ? {} : cors;
  const allowHeaders = new Set([...CORS_HEADERS, ...more].map((name) => name.toLowerCase()));

  // The transports add what every response to a page gets.
  const preflight = (request: HeaderReader): HttpAnswer => {
    if (cors === false) return { status: 204, headers: ALLOW, body: undefined };
    const asked = (request.header("access-control-request-headers") ?? "")
      .split(",")
      .map((name) => name.trim().toLowerCase());
    const allowed = asked.filter((name) => allowHeaders.has(name) || PARAM_HEADER.test(name));
    const headers = [
      "Access-Control-Allow-Methods",
      "POST, OPTIONS",
      "Access-Control-Allow-Headers",
      [...new Set([...allowHeaders, ...allowed])].join(", "),
      "Access-Control-Max-Age",
      String(maxAgeSeconds),
    ];
    return { status: 204, headers, body: undefined };
  };

  return {
    check(request) {
      const { method } = request;
      if (method !== "POST" && method !== "OPTIONS")
        return refuse(405, `Send messages by POST; ${FOR_OPERATORS}`, ALLOW);
      const host = request.header("host") ?? request.hostOfUrl?.();
      if (host === undefined || !acceptsHost(host)) {
        trace({ type: "name_refused", header: "host", name: (host ?? "").slice(0, 128) });
        return refuse(403, "This server is not called by that host name. Its operator allows names by `allowedHosts`.");
      }
      const origin = request.header("origin");
      if (origin !== null && !acceptsOrigin(origin)) {
        trace({ type: "name_refused", header: "origin", name: origin.slice(0, 128) });
        return refuse(
          403,
          "Pages of that origin may not call this server. Its operator allows them by `allowedOrigins`.",
        );
      }
      if (method === "OPTIONS") {
        return origin === null ? { status: 204, headers: ALLOW, body: undefined } : preflight(request);
      }
      const type = request.header("content-type");
      if (type !== JSON_TYPE && !isJson(type)) return refuse(415, "Content-Type must be application/json.");
      const accept = request.header("accept");
      if (accept !== null && !acceptable(accept)) {
        return refuse(406, "Accept must list application/json and text/event-stream.");
      }
      if (request.headerBytes() > limits.headerBytes) {
        return refuse(431, `The headers are larger than ${limits.headerBytes} bytes.`);
      }
      return undefined;
    },
    cors(request) {
      if (cors === false) return NO_HEADERS;
      const origin = request.header("origin");
      return origin !== null && acceptsOrigin(origin) ? corsHeaders(origin) : NO_HEADERS;
    },
  };
}

// Session and event ids of earlier revisions are ignored, so a page that sends them must get past its preflight too.
const CORS_HEADERS = [
  "content-type",
  "accept",
  "authorization",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "mcp-session-id",
  "last-event-id",
];
const PARAM_HEADER = /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+$/;

function corsHeaders(origin: string): string[] {
  return [
    "Access-Control-Allow-Origin",
    origin,
    "Access-Control-Expose-Headers",
    "WWW-Authenticate, Retry-After",
    "Vary",
    "Origin",
  ];
}

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The name of a Host header or origin without its port, in lower case. */
function nameOf(host: string): string {
  const lower = host.toLowerCase();
  const end = lower.startsWith("[") ? lower.indexOf("]") + 1 : lower.indexOf(":");
  if (end <= 0) return lower;
  return /^(?::\d*)?$/.test(lower.slice(end)) ? lower.slice(0, end) : "";
}

/** The rule with a memory of one: the last header that was accepted is mostly the next one. */
function remembering(accepts: (value: string) => boolean): (value: string) => boolean {
  let last: string | undefined;
  return (value) => {
    if (value === last) return true;
    if (!accepts(value)) return false;
    last = value;
    return true;
  };
}

function hostRule(allowed: readonly string[] | undefined): (host: string) => boolean {
  if (allowed === undefined) return (host) => LOOPBACK.has(nameOf(host));
  if (allowed.includes("*")) return () => true;
  const names = new Set(allowed.map((host) => host.toLowerCase()));
  return (host) => names.has(host.toLowerCase()) || names.has(nameOf(host));
}

function originRule({ allowedOrigins, allowedHosts }: Settings): (origin: string) => boolean {
  if (allowedOrigins === undefined) {
    // Pages of this machine may call a server of this machine; a server that has a public name must say who else may.
    if (allowedHosts !== undefined) return () => false;
    return (origin) => {
      const at = /^https?:\/\//i.exec(origin);
      return at !== null && LOOPBACK.has(nameOf(origin.slice(at[0].length)));
    };
  }
  if (allowedOrigins.includes("*")) return () => true;
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));
  return (origin) => origins.has(origin.toLowerCase());
}

function isJson(type: string | null): boolean {
  return type !== null && type.split(";", 1)[0]?.trim().toLowerCase() === JSON_TYPE;
}

const ACCEPTED = /application\/json|text\/event-stream|\*\/\*|application\/\*|text\/\*/i;
