// The client: every call, on top of one connection.
import {
  type CallToolResult,
  type ClientCapabilities,
  type CompleteResult,
  type DiscoverResult,
  ErrorCode,
  type GetPromptResult,
  isCompleteResult,
  isDiscoverResult,
  type Prompt,
  type PromptReference,
  type ReadResourceResult,
  type Received,
  type Resource,
  type ResourceTemplate,
  type ResourceTemplateReference,
  type Result,
  RpcError,
  type SubscriptionFilter,
  type Tool,
  VolleyError,
} from "../protocol/index.ts";
import type { AskKind } from "./answers.ts";
import { type AskHandlers, capabilitiesOf } from "./asks.ts";
import type { ResultCache } from "./cache.ts";
import type { Connection, ServerIdentity } from "./connection.ts";
import { copyJson } from "./copy.ts";
import { drive } from "./driver.ts";
import {
  collect,
  type FetchPage,
  type ListEntries,
  type ListMethod,
  type ListPages,
  pagesOf,
  readPage,
} from "./lists.ts";
import type { CallOptions, RequestOptions } from "./options.ts";
import { type PendingRound, resumePending, type Started, toStarted } from "./pending.ts";
import { type Flow, play, type RoundMethod, type RoundResults, type Rounds } from "./rounds.ts";
import { type SubscribeOptions, type Subscription, type SubscriptionEvent, subscribe } from "./subscriptions.ts";
import { createToolDirectory } from "./tools.ts";

/** The params of the methods that may take several rounds. */
export interface RoundParams {
  "tools/call": { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> };
  "prompts/get": { readonly name: string; readonly arguments?: Readonly<Record<string, string>> };
  "resources/read": { readonly uri: string };
}

/** Options of a call that is played by hand. */
export interface StartOptions extends CallOptions {
  /** The kinds of questions that are answered by hand. Default: form and url, and those that the client has handlers for. */
  readonly answers?: readonly AskKind[];
}

/** Options of a completion. */
export interface CompleteOptions extends RequestOptions {
  /** Arguments or variables that are settled already. */
  readonly settled?: Readonly<Record<string, string>>;
}

/**
 * A connection to one server, for one authorization.
 *
 * Errors of the server are thrown as RpcError, everything else as VolleyError. Results that the server lets be cached are
 * shared and frozen.
 */
export interface Client extends AsyncDisposable {
  /** The server, as far as it is known: its address, and what its newest result says of it. */
  readonly server: ServerIdentity;
  /** What this client declares with its calls. */
  readonly capabilities: ClientCapabilities;
  /**
   * Calls a tool and returns its final result; a failure of the tool itself is a result with `isError`.
   *
   * A structured result that does not fit the tool's output schema is a VolleyError `message_invalid`, with the result as
   * its `cause`.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
   */
  callTool(name: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<CallToolResult>;
  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<GetPromptResult>;
  /** Reads a resource; {@link isResourceNotFound} tells the error of one that does not exist. */
  readResource(uri: string, options?: CallOptions): Promise<Received<ReadResourceResult>>;
  /** All tools. Those whose `x-mcp-header` breaks the rules are left out over HTTP, with a warning. */
  listTools(options?: RequestOptions): Promise<Tool[]>;
  listPrompts(options?: RequestOptions): Promise<Prompt[]>;
  listResources(options?: RequestOptions): Promise<Resource[]>;
  listResourceTemplates(options?: RequestOptions): Promise<ResourceTemplate[]>;
  /** A list page by page, as the server cuts it. */
  pages<M extends ListMethod>(method: M, options?: RequestOptions): AsyncIterableIterator<ListPages[M]>;
  /** Values for a prompt's argument or a template's variable that begin with what is typed already. */
  complete(
    ref: PromptReference | ResourceTemplateReference,
    argument: { readonly name: string; readonly value: string },
    options?: CompleteOptions,
  ): Promise<CompleteResult["completion"]>;
  /** What the server says of itself. */
  discover(options?: RequestOptions): Promise<Received<DiscoverResult>>;
  /**
   * Starts a call that is played by hand: the caller, not the handlers, answers what is asked.
   *
   * Rounds in which nothing is asked are played on by themselves.
   *
   * @example
   * ```ts
   * let step = await client.start("tools/call", { name: "resolve_bug", arguments: { id: 4522 } });
   * while (!step.done) {
   *   for (const key of step.openKeys) step.answer(key, await askSomebody(step.requests[key]));
   *   step = await step.continue();
   * }
   * ```
   */
  start<M extends RoundMethod>(method: M, params: RoundParams[M], options?: StartOptions): Promise<Started<M>>;
  /** Goes on with what {@link PendingRound.toJSON} gave, as data or as text, in this or another process. */
  resume(data: unknown): PendingRound;
  /**
   * Hears of changes. What has changed is dropped from the cache before the event is told.
   *
   * @example
   * ```ts
   * for await (const event of client.subscribe({ toolsListChanged: true })) {
   *   if (event.type === "tools_changed" || event.type === "gap") show(await client.listTools());
   * }
   * ```
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
   */
  subscribe(filter: SubscriptionFilter, options?: SubscribeOptions): Subscription;
  /** Sends any request, for extensions: one round, no cache, the result as it came. */
  request(method: string, params?: Readonly<Record<string, unknown>>, options?: RequestOptions): Promise<Result>;
  /** Ends everything that is open. */
  close(): Promise<void>;
}

/** What a client is made of. */
export interface ClientParts {
  readonly connection: Connection;
  readonly cache: ResultCache;
  readonly handlers: AskHandlers;
  readonly maxRounds: number;
  readonly pace: (attempt: number) => number;
}

const LISTS: readonly ListMethod[] = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/** Makes a client. */
export function createClient({ connection, cache, handlers, maxRounds, pace }: ClientParts): Client {
  const { capabilities } = connection.settings;
  const tools = createToolDirectory(connection, {
    list: () => collect("tools/list", fetchPage, () => cache.drop("tools/list"), {}),
    drop: () => cache.drop("tools/list"),
  });
  const rounds: Rounds = { connection, tools, maxRounds, pace };

  async function fetchPage<M extends ListMethod>(
    method: M,
    cursor: string | undefined,
    options: RequestOptions,
  ): Promise<ListPages[M]> {
    const cached = cache.get(method, cursor);
    if (cached !== undefined) return readPage(method, cached);
    const keep = cache.open(method, cursor);
    const result = await connection.request({ method, params: cursor === undefined ? {} : { cursor } }, options);
    const page = readPage(method, result);
    if (method === "tools/list") {
      const listed = page as ListPages["tools/list"];
      listed.tools = tools.take(listed.tools);
    }
    keep(page);
    return page;
  }

  function list<M extends ListMethod>(method: M, options: RequestOptions = {}): Promise<ListEntries[M][]> {
    return collect(method, fetchPage as FetchPage, () => cache.drop(method), options);
  }

  async function call<M extends RoundMethod>(
    method: M,
    params: RoundParams[M],
    options: CallOptions = {},
  ): Promise<RoundResults[M]> {
    const flow: Flow<M> = { method, params: copyJson(params), capabilities, options };
    return drive(rounds, handlers, flow, await play(rounds, flow));
  }

  async function readResource(uri: string, options: CallOptions = {}): Promise<Received<ReadResourceResult>> {
    const cached = cache.get("resources/read", uri);
    if (cached !== undefined) return cached as Received<ReadResourceResult>;
    const keep = cache.open("resources/read", uri);
    const flow: Flow<"resources/read"> = { method: "resources/read", params: { uri }, capabilities, options };
    const standing = await play(rounds, flow);
    // What came of a retry depends on more than the URI.
    if (standing.type === "complete" && standing.round === 1) keep(standing.result);
    return drive(rounds, handlers, flow, standing);
  }

  async function discover(options: RequestOptions = {}): Promise<Received<DiscoverResult>> {
    const cached = cache.get("server/discover", undefined);
    if (cached !== undefined) return cached as Received<DiscoverResult>;
    const keep = cache.open("server/discover", undefined);
    const result = await connection.request({ method: "server/discover", params: {} }, options).catch(asLegacy);
    if (!isDiscoverResult(result))
      throw new VolleyError("message_invalid", "The server describes itself in a way that cannot be read.");
    keep(result);
    return result;
  }

  // Every server of this revision has server/discover.
  function asLegacy(error: unknown): never {
    if (!RpcError.is(error) || error.code !== ErrorCode.MethodNotFound) throw error;
    throw new VolleyError(
      "legacy_server",
      `The server at ${connection.server().address} does not know server/discover: it speaks an older revision and has to be updated or reached by its own client.`,
      { cause: error },
    );
  }

  function changed(event: SubscriptionEvent, subscribed: readonly string[]): void {
    if (event.type === "tools_changed") tools.forget();
    else if (event.type === "prompts_changed") cache.drop("prompts/list");
    else if (event.type === "resources_changed") {
      cache.drop("resources/list");
      cache.drop("resources/templates/list");
    } else if (event.type === "resource_updated") {
      cache.dropOne("resources/read", event.uri);
      for (const uri of subscribed) if (event.uri.startsWith(uri)) cache.dropOne("resources/read", uri);
    } else if (event.type === "gap") {
      tools.forget();
      for (const method of LISTS) cache.drop(method);
      cache.drop("resources/read");
    }
  }

  async function readAgain(uri: string, signal: AbortSignal): Promise<Received<ReadResourceResult>> {
    const keep = cache.open("resources/read", uri);
    const standing = await play(rounds, {
      method: "resources/read",
      params: { uri },
      capabilities: {},
      options: { signal },
    });
    if (standing.type === "waiting")
      throw new VolleyError("no_handler", `Nobody is asked for the sake of reading ${uri} again.`);
    if (standing.round === 1) keep(standing.result);
    return standing.result;
  }

  function flowByHand<M extends RoundMethod>(
    method: M,
    params: Readonly<Record<string, unknown>>,
    answers: readonly AskKind[],
    options: CallOptions,
  ): Flow<M> {
    return { method, params, capabilities: capabilitiesOf(handlers, answers), options };
  }

  return {
    get server() {
      return connection.server();
    },
    capabilities,
    callTool: (name, args = {}, options) => call("tools/call", { name, arguments: args }, options),
    getPrompt: (name, args, options) =>
      call("prompts/get", args === undefined ? { name } : { name, arguments: args }, options),
    readResource,
    listTools: (options) => list("tools/list", options),
    listPrompts: (options) => list("prompts/list", options),
    listResources: (options) => list("resources/list", options),
    listResourceTemplates: (options) => list("resources/templates/list", options),
    pages: (method, options = {}) => pagesOf(method, fetchPage as FetchPage, options),
    async complete(ref, argument, options = {}) {
      const { settled } = options;
      const params = { ref, argument, ...(settled === undefined ? {} : { context: { arguments: settled } }) };
      const result = await connection.request({ method: "completion/complete", params }, options);
      if (isCompleteResult(result)) return result.completion;
      throw new VolleyError("message_invalid", "The server's completion is no list of values.");
    },
    discover,
    async start(method, params, options = {}) {
      const { answers = ["form", "url"], ...callOptions } = options;
      const flow = flowByHand(method, copyJson(params as Readonly<Record<string, unknown>>), answers, callOptions);
      return toStarted({ rounds, flow, answers }, await play(rounds, flow));
    },
    resume: (data) =>
      resumePending(data, rounds, ({ method, params, answers }) => flowByHand(method, params, answers, {})),
    subscribe: (filter, options = {}) => subscribe({ connection, changed, readAgain }, filter, options),
    request: (method, params = {}, options = {}) => connection.request({ method, params }, options),
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
