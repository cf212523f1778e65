// From an address, a command or a transport to a client.
import { type Implementation, VolleyError } from "../protocol/index.ts";
import type { FormWords, UrlWords } from "./answers.ts";
import type { Client } from "./api.ts";
import { type AskHandlers, capabilitiesOf } from "./asks.ts";
import { createCache, type ResultCache } from "./cache.ts";
import { createClient } from "./client.ts";
import { createConnection } from "./connection.ts";
import { type HeaderSource, serverUrl } from "./http.ts";
import type { Fetch } from "./http-fetch.ts";
import { checkConnect } from "./option-names.ts";
import { defaultPace } from "./pause.ts";
import type { StdioServer } from "./stdio.ts";
import { type TaskMode, withTasks } from "./task-wire.ts";
import type { Transport } from "./transport.ts";

/** Options of {@link connect}. */
export interface ConnectOptions<FormWord extends FormWords = FormWords, UrlWord extends UrlWords = UrlWords>
  extends AskHandlers<FormWord, UrlWord> {
  /** Who this client says it is, for servers to log. Default: this package; `false` sends nothing. */
  readonly clientInfo?: Implementation | false;
  /** Headers for every HTTP request, such as `Authorization`; a function is asked for each request. For another user, connect again. */
  readonly headers?: HeaderSource;
  /**
   * Sends HTTP requests instead of the runtime's own means, which go by the proxies of the environment where the runtime's
   * fetch does: on Node with `NODE_USE_ENV_PROXY=1` or `--use-env-proxy`, from 22.21 and 24.5 on. Before, give one that does.
   */
  readonly fetch?: Fetch;
  /** How many times a server may ask for more in one call. Default 32. */
  readonly maxRounds?: number;
  /** The longest wait for the answer to one request, in milliseconds; the time of people is outside. Default 60,000. */
  readonly legTimeoutMs?: number;
  /**
   * The longest wait for the answer to one request that is told of progress, which restarts `legTimeoutMs`, in
   * milliseconds. Default 3,600,000 (an hour).
   */
  readonly maxTotalTimeoutMs?: number;
  /**
   * How long to wait before the retry of the n-th result in a row that asks nothing, or only to open a page again that the
   * person has just agreed to open, in milliseconds.
   * Default: the first at once, then 50 ms doubling to 2 s, half to all of it.
   */
  readonly pace?: (attempt: number) => number;
  /**
   * Whether servers may turn calls of tools into tasks, which are then followed to their end: by the extension
   * `io.modelcontextprotocol/tasks` (default), not at all, or as SEP-2322 wrote it, where every call asks for a task.
   */
  readonly tasks?: TaskMode;
  /** Hears what is wrong but not fatal: a tool that is left out, a line that is no message. Default: `console.warn`. */
  readonly onWarning?: (warning: string) => void;
  /** Gives up connecting; calls have signals of their own. */
  readonly signal?: AbortSignal;
}

const DEFAULT_CLIENT_INFO: Implementation = { name: "volley-mcp", version: "0.1.0" };

/**
 * Connects to a server: over HTTP to a URL, over stdio to a program that is started, or over a transport of one's own.
 *
 * Over HTTP nothing is sent before the first call. A program is started and asked who it is; one of an older revision, or
 * one that does not answer within `legTimeoutMs`, is a VolleyError `legacy_server`.
 *
 * @example
 * ```ts
 * const client = await connect("https://tracker.example.com/mcp", {
 *   form: async (ask) => ({ action: "accept", content: await fillIn(ask.fields, ask.defaults) }),
 * });
 * const result = await client.callTool("resolve_bug", { id: 4522 });
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
export async function connect<const FormWord extends FormWords, const UrlWord extends UrlWords>(
  target: string | URL | StdioServer | Transport,
  options: ConnectOptions<FormWord, UrlWord> = {},
): Promise<Client> {
  checkConnect(target, options);
  const {
    clientInfo = DEFAULT_CLIENT_INFO,
    legTimeoutMs = 60_000,
    maxTotalTimeoutMs = 3_600_000,
    maxRounds = 32,
    pace = defaultPace,
    tasks = true,
    onWarning = warn,
  } = options;
  const cache = createCache(Date.now);
  const transport = await openTransport(target, options, cache, onWarning);
  const connection = createConnection(transport, {
    clientInfo: clientInfo === false ? undefined : clientInfo,
    capabilities: withTasks(capabilitiesOf(options), tasks),
    legTimeoutMs,
    maxTotalTimeoutMs,
    onWarning,
  });
  const client = createClient({ connection, cache, handlers: options, maxRounds, pace, tasks });
  if (transport.kind === "stdio") await meet(client, options.signal);
  return client;
}

async function openTransport(
  target: string | URL | StdioServer | Transport,
  options: ConnectOptions,
  cache: ResultCache,
  onWarning: (warning: string) => void,
): Promise<Transport> {
  if (typeof target === "object" && "send" in target) return target;
  if (typeof target === "object" && "command" in target) {
    const { createStdioTransport } = await import("./stdio.ts");
    return createStdioTransport(target, onWarning);
  }
  const url = serverUrl(target);
  const headers = watchAuthorization(options.headers ?? {}, cache);
  if (options.fetch === undefined && isNode()) {
    const { createNodeHttpTransport } = await import("./http-node.ts");
    return createNodeHttpTransport(url, headers);
  }
  const { createFetchTransport } = await import("./http-fetch.ts");
  return createFetchTransport(url, headers, options.fetch ?? ((address, init) => fetch(address, init)));
}

/** Whether this is Node itself: other runtimes imitate its modules, but their fetch is the shorter way. */
function isNode(): boolean {
  const { process } = globalThis as { process?: { release?: { name?: string }; versions?: Record<string, string> } };
  const isOther =
    "Deno" in globalThis ||
    process?.versions?.bun !== undefined ||
    globalThis.navigator?.userAgent === "Cloudflare-Workers";
  return process?.release?.name === "node" && !isOther;
}

/** Drops private results when the authorization changes, since they may not be shown under another one. */
function watchAuthorization(source: HeaderSource, cache: ResultCache): HeaderSource {
  if (typeof source !== "function") return source;
  let last: { readonly authorization: string | undefined } | undefined;
  return async () => {
    const headers = await source();
    const [, authorization] = Object.entries(headers).find(([name]) => name.toLowerCase() === "authorization") ?? [];
    if (last !== undefined && authorization !== last.authorization) cache.dropPrivate();
    last = { authorization };
    return headers;
  };
}

/**
 * Asks a program who it is before anything else: an older server might take a later request for one of its own.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#backward-compatibility
 */
async function meet(client: Client, signal: AbortSignal | undefined): Promise<void> {
  try {
    await client.discover(signal === undefined ? {} : { signal });
  } catch (error) {
    await client.close();
    if (!VolleyError.is(error) || error.code !== "timeout") throw error;
    throw new VolleyError(
      "legacy_server",
      `${client.server.address} does not answer as a server of revision 2026-07-28: it speaks an older one (or none), and has to be updated or reached by its own client.`,
      { cause: error },
    );
  }
}

function warn(warning: string): void {
  console.warn(`volley-mcp: ${warning}`);
}
