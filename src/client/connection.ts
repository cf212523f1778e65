// One request and its answer: metadata, headers, limits of time, the version of the protocol.
import {
  type ClientCapabilities,
  ErrorCode,
  encodeHeaderValue,
  HEADERS,
  type Implementation,
  isImplementation,
  isLoggingMessageParams,
  isObject,
  isProgressParams,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  META,
  PROTOCOL_VERSION,
  type Result,
  RpcError,
  TASKS_EXTENSION,
  VolleyError,
} from "../protocol/index.ts";
import { abortedError, closedError, rpcErrorOf } from "./errors.ts";
import { httpFailureOf } from "./http-failure.ts";
import { untilTaken } from "./insist.ts";
import { type Limit, startLimit } from "./limit.ts";
import type { RequestOptions } from "./options.ts";
import { checkVersions, goneServer, isOfThisRevision, isOlderServers, isPuzzled, olderServer } from "./revision.ts";
import { onAbort } from "./signals.ts";
import type { Transport } from "./transport.ts";

/** Who answers: its address is certain, the rest is what it says of itself. */
export interface ServerIdentity {
  /** The origin and path of its URL, or its command. */
  readonly address: string;
  readonly name: string | undefined;
  readonly title: string | undefined;
  readonly version: string | undefined;
}

/** One request to send. */
export interface Leg {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** `Mcp-Param-*`. */
  readonly paramHeaders?: Readonly<Record<string, string>>;
  /** `Mcp-Name`, where the params do not hold it. */
  readonly name?: string;
  /** What this client can do, where that is not the same for all requests. */
  readonly capabilities?: ClientCapabilities;
  /**
   * Receives notifications that are neither progress nor log messages; `endWait` says that the answer may now take as long
   * as it likes.
   */
  readonly onNotification?: (notification: JSONRPCNotification, endWait: () => void) => void;
  /** For one that may be sent twice: the failures after which it is, for about a minute. */
  readonly mayRepeat?: ((error: unknown) => boolean) | undefined;
}

export interface ConnectionSettings {
  readonly clientInfo: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  readonly legTimeoutMs: number;
  readonly maxTotalTimeoutMs: number;
  readonly onWarning: (warning: string) => void;
}

/** Sends requests over a transport. */
export interface Connection {
  readonly kind: Transport["kind"];
  readonly settings: ConnectionSettings;
  /** Fires when the client closes. */
  readonly closing: AbortSignal;
  /** The id of the newest request. */
  readonly lastId: number;
  /** Makes the ids of later requests greater than `id`. */
  skipTo(id: number): void;
  /** The server, as the `_meta` of a result describes it, or of the newest one that does. */
  server(meta?: unknown): ServerIdentity;
  /**
   * Sends a request, each time with a fresh id, until the server has taken it; throws the server's error as
   * {@link RpcError}. The result's type is one that the client knows.
   */
  request(leg: Leg, options: RequestOptions): Promise<Result>;
  close(): Promise<void>;
}

const DISCOVER: Leg = { method: "server/discover", params: {} };
// Where the specification, and SEP-2322 for tasks, lets a server ask for more.
const ROUND_METHODS = new Set(["tools/call", "prompts/get", "resources/read", "tasks/result"]);
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
  ["tasks/result", "taskId"],
]);

/** Makes a connection over a transport. */
export function createConnection(transport: Transport, settings: ConnectionSettings): Connection {
  const closing = new AbortController();
  const baseMeta: Record<string, unknown> = { [META.protocolVersion]: PROTOCOL_VERSION };
  if (settings.clientInfo !== undefined) baseMeta[META.clientInfo] = settings.clientInfo;
  baseMeta[META.clientCapabilities] = settings.capabilities;
  let lastId = 0;
  let lastMeta: unknown;
  /** The server has answered as one of this revision does. */
  let isKnown = false;

  function metaFor(leg: Leg, id: number, options: RequestOptions): Record<string, unknown> {
    const { onProgress, onLog, logLevel = "info", meta } = options;
    const capabilities = leg.capabilities ?? settings.capabilities;
    const isPlain = onProgress === undefined && onLog === undefined && meta === undefined;
    if (isPlain && capabilities === settings.capabilities) return baseMeta;
    const made: Record<string, unknown> = { ...meta, ...baseMeta, [META.clientCapabilities]: capabilities };
    // An id is unique among the open requests, as a token has to be.
    if (onProgress !== undefined) made.progressToken = id;
    if (onLog !== undefined) made[META.logLevel] = logLevel;
    return made;
  }

  async function exchange(leg: Leg, options: RequestOptions): Promise<JSONRPCResponse> {
    const { signal, timeoutMs = settings.legTimeoutMs, maxTotalTimeoutMs = settings.maxTotalTimeoutMs } = options;
    if (signal?.aborted) throw abortedError(signal);
    const id = ++lastId;
    const request: JSONRPCRequest = {
      jsonrpc: "2.0",
      id,
      method: leg.method,
      params: { ...leg.params, _meta: metaFor(leg, id, options) },
    };
    const ending = new AbortController();
    const limit = startLimit(leg.method, timeoutMs, maxTotalTimeoutMs, (error) => ending.abort(error));
    const ignore = signal && onAbort(signal, () => ending.abort(abortedError(signal)));
    try {
      return await transport.send(request, {
        headers: transport.kind === "http" ? headersFor(leg) : NO_HEADERS,
        signal: ending.signal,
        onNotification: receiver(leg, id, options, settings.onWarning, limit),
      });
    } finally {
      limit.stop();
      ignore?.();
    }
  }

  function readResult(leg: Leg, response: JSONRPCResponse): Result {
    if ("error" in response) throw rpcErrorOf(response);
    const { result } = response;
    // Transports that read text have done this already.
    if (result.resultType === undefined) result.resultType = "complete";
    const type = result.resultType;
    const isRead =
      type === "complete" ||
      (type === "input_required" && ROUND_METHODS.has(leg.method)) ||
      (type === "task" && mayBeTask(leg, settings.capabilities));
    if (!isRead) {
      throw new VolleyError(
        "message_invalid",
        `The server answered ${leg.method} with a result of type "${type}", which has no meaning there.`,
      );
    }
    if (result._meta?.[META.serverInfo] !== undefined) lastMeta = result._meta;
    isKnown = true;
    return result;
  }

  async function send(leg: Leg, options: RequestOptions, isSecond = false): Promise<Result> {
    try {
      return readResult(leg, await exchange(leg, options));
    } catch (error) {
      if (isKnown && VolleyError.is(error) && error.code === "legacy_server")
        throw goneServer(transport.address, error);
      if (!RpcError.is(error)) throw error;
      isKnown ||= isOfThisRevision(error);
      if (error.code === ErrorCode.UnsupportedProtocolVersion && !isSecond) {
        checkVersions(error.data, transport.address);
        return send(leg, options, true);
      }
      if (leg.method === DISCOVER.method && isOlderServers(error, isKnown)) throw olderServer(transport.address, error);
      if (isKnown || leg.method === DISCOVER.method) throw error;
      const failure = httpFailureOf(error);
      if (failure !== undefined && isPuzzled(failure.status)) await meet(options);
      throw error;
    }
  }

  /** Throws when the server, which has answered its first request with an error, is one of an older revision. */
  async function meet({ signal }: RequestOptions): Promise<void> {
    try {
      await send(DISCOVER, signal === undefined ? {} : { signal });
    } catch (error) {
      if (VolleyError.is(error) && error.code === "legacy_server") throw error;
    }
  }

  return {
    kind: transport.kind,
    settings,
    closing: closing.signal,
    get lastId() {
      return lastId;
    },
    skipTo(id) {
      lastId = Math.max(lastId, id);
    },
    server(meta) {
      const info = serverInfoIn(meta) ?? serverInfoIn(lastMeta);
      return { address: transport.address, name: info?.name, title: info?.title, version: info?.version };
    },
    async request(leg, options) {
      if (closing.signal.aborted) throw closedError();
      const { signal, timeoutMs = settings.legTimeoutMs } = options;
      const { method, mayRepeat } = leg;
      const attempts = {
        kind: transport.kind,
        method,
        mayRepeat,
        signal,
        closing: closing.signal,
        patienceMs: timeoutMs,
      };
      return untilTaken(attempts, () => send(leg, options));
    },
    async close() {
      if (!closing.signal.aborted) closing.abort(closedError());
      await transport.close();
    },
  };
}

function serverInfoIn(meta: unknown): Implementation | undefined {
  const info = isObject(meta) ? meta[META.serverInfo] : undefined;
  return isImplementation(info) ? info : undefined;
}

/** A task is an answer to the call of a tool only, and only where this request has declared or asked for it. */
function mayBeTask({ method, params, capabilities }: Leg, ours: ClientCapabilities): boolean {
  const { extensions } = capabilities ?? ours;
  const isDeclared = extensions !== undefined && Object.hasOwn(extensions, TASKS_EXTENSION);
  return method === "tools/call" && (isDeclared || params.task !== undefined);
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

function headersFor(leg: Leg): Record<string, string> {
  const headers: Record<string, string> = { [HEADERS.protocolVersion]: PROTOCOL_VERSION, [HEADERS.method]: leg.method };
  const key = NAMED_BY.get(leg.method);
  const name = key === undefined ? leg.name : String(leg.params[key]);
  if (name !== undefined) headers[HEADERS.name] = encodeHeaderValue(name);
  return leg.paramHeaders === undefined ? headers : Object.assign(headers, leg.paramHeaders);
}

/** Hands the notifications of one request to those who wait for them; a caller's own failure there is a warning. */
function receiver(
  leg: Leg,
  id: number,
  options: RequestOptions,
  onWarning: (warning: string) => void,
  limit: Limit,
): (notification: JSONRPCNotification) => void {
  let reached = Number.NEGATIVE_INFINITY;
  return (notification) => {
    const { method, params } = notification;
    try {
      if (method === "notifications/progress") {
        if (options.onProgress === undefined || !isProgressParams(params) || params.progressToken !== id) return;
        const { progress, total, message } = params;
        if (!(progress > reached)) return;
        reached = progress;
        limit.restart();
        options.onProgress({ progress, total, message });
      } else if (method === "notifications/message") {
        if (options.onLog === undefined || !isLoggingMessageParams(params)) return;
        options.onLog({ level: params.level, logger: params.logger, data: params.data });
      } else {
        leg.onNotification?.(notification, limit.stop);
      }
    } catch (error) {
      onWarning(`A listener for ${method} failed: ${error}`);
    }
  };
}
