import { ANONYMOUS, type Principal, readPrincipal } from "../state/index.ts";
import type { Reply } from "./call.ts";
import type { Core } from "./core.ts";
import { createHttpChecks, type Head, type HttpAnswer, refuse } from "./http-checks.ts";
import type { HeaderReader } from "./options.ts";

/** What Node's and the fetch way have in common: everything but reading and writing. */
export interface Http {
  readonly core: Core;
  /** Judges the head of a request; undefined lets its body be read. */
  judge(head: Head): HttpAnswer | undefined;
  /** Who is calling; undefined: nobody that may. Without `authenticate` the answer is there at once. */
  identify(request: HeaderReader): Principal | undefined | Promise<Principal | undefined>;
  cors(request: HeaderReader): readonly string[];
  /** The head of a reply, as flat pairs. */
  headersOf(reply: Reply): readonly string[];
  readonly unauthorized: HttpAnswer;
  readonly tooLarge: HttpAnswer;
  readonly tooSlow: HttpAnswer;
}

/** An event stream that proxies neither keep nor change. */
export const STREAM_HEADERS: readonly string[] = [
  "Content-Type",
  "text/event-stream",
  "Cache-Control",
  "no-cache, no-transform",
  "X-Accel-Buffering",
  "no",
];
export const KEEP_ALIVE_MS = 15_000;
export const KEEP_ALIVE = ":\n\n";
/** Keep-alives that a reader may miss before its stream is given up. */
export const PATIENCE = 8;

/** One message as a server-sent event. */
export function toEvent(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

const JSON_HEADERS: readonly string[] = ["Content-Type", "application/json"];
const NO_HEADERS: readonly string[] = [];

/**
 * Prepares a server for HTTP.
 *
 * @throws VolleyError `keys_missing`, `invalid_options` for a set-up that would not be safe
 */
export function createHttp(core: Core): Http {
  const { settings } = core;
  if (settings.unsafe) throw settings.unsafe;
  core.serving = true;
  core.mayBeMany = true;
  const { authenticate, limits } = settings;
  const checks = createHttpChecks(settings);
  const tooLarge = refuse(413, `The body is larger than ${limits.bodyBytes} bytes.`);

  const identify = async (request: HeaderReader): Promise<Principal | undefined> => {
    try {
      const given: unknown = await authenticate?.(request);
      return given ? readPrincipal(given, "authenticate") : undefined;
    } catch (error) {
      // Verifying libraries throw for a bad token, and what is no principal is nobody: the operator sees why.
      settings.trace({ type: "fault", target: "authenticate", error });
      return undefined;
    }
  };

  return {
    core,
    judge(head) {
      const answer = checks.check(head);
      if (answer) return answer;
      if (core.full) {
        settings.trace({ type: "limited", limit: "inFlight" });
        return refuse(429, "Too many requests at once. Try again in 1 s.", ["Retry-After", "1"]);
      }
      const length = head.header("content-length");
      return length !== null && Number(length) > limits.bodyBytes ? tooLarge : undefined;
    },
    identify: (request) => (authenticate ? identify(request) : ANONYMOUS),
    cors: (request) => checks.cors(request),
    headersOf(reply) {
      if (reply.body === undefined) return NO_HEADERS;
      return reply.retryAfter === undefined ? JSON_HEADERS : [...JSON_HEADERS, "Retry-After", String(reply.retryAfter)];
    },
    unauthorized: refuse(401, "Authentication is required.", ["WWW-Authenticate", settings.challenge]),
    tooLarge,
    tooSlow: refuse(408, `The body took longer than ${limits.bodyTimeoutMs} ms.`),
  };
}
