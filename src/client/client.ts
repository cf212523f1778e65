// The client: every call, on top of one connection.
import {
  type ClientCapabilities,
  checkOptions,
  type DiscoverResult,
  isCompleteResult,
  isDiscoverResult,
  type OptionNames,
  type ReadResourceResult,
  type Received,
  VolleyError,
} from "../protocol/index.ts";
import type { Client, CompleteOptions, RoundParams, StartOptions } from "./api.ts";
import { SUBSCRIBE_OPTIONS, type SubscriptionEvent, subscribe } from "./changes/subscriptions.ts";
import type { Connection } from "./connection/connection.ts";
import { REQUEST_OPTIONS, type RequestOptions } from "./connection/options.ts";
import { copyJson } from "./copy.ts";
import type { AskKind } from "./questions/answers.ts";
import { type AskHandlers, capabilitiesOf } from "./questions/asks.ts";
import type { ResultCache } from "./results/cache.ts";
import {
  collect,
  type FetchPage,
  type ListEntries,
  type ListMethod,
  type ListPages,
  pagesOf,
} from "./results/lists.ts";
import { createResultReader, type RoundMethod, type RoundResults } from "./results/results.ts";
import { createToolDirectory } from "./results/tools.ts";
import { drive } from "./rounds/driver.ts";
import type { Flow, Rounds } from "./rounds/flow.ts";
import { CALL_OPTIONS, type CallOptions } from "./rounds/options.ts";
import { type ByHand, resumePending, toStarted } from "./rounds/pending.ts";
import { play } from "./rounds/rounds.ts";
import { readTaskData, type TaskData, taskDataOf } from "./tasks/data.ts";
import { createTaskHandle, type TaskHandle } from "./tasks/task.ts";
import { type TaskMode, withTasks } from "./tasks/wire.ts";

/** What a client is made of. */
export interface ClientParts {
  readonly connection: Connection;
  readonly cache: ResultCache;
  readonly handlers: AskHandlers;
  readonly maxRounds: number;
  readonly pace: (attempt: number) => number;
  readonly tasks: TaskMode;
}

const START_OPTIONS: OptionNames<StartOptions> = { ...CALL_OPTIONS, answers: true };
const COMPLETE_OPTIONS: OptionNames<CompleteOptions> = { ...REQUEST_OPTIONS, settled: true };

type JsonParams = Readonly<Record<string, unknown>>;

const LISTS: readonly ListMethod[] = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/** Makes a client. */
export function createClient({ connection, cache, handlers, maxRounds, pace, tasks }: ClientParts): Client {
  const { capabilities } = connection.settings;
  const tools = createToolDirectory(connection, {
    list: () => collect("tools/list", fetchPage, () => cache.drop("tools/list"), {}),
    drop: () => cache.drop("tools/list"),
  });
  const read = createResultReader(connection.settings.onWarning);
  const rounds: Rounds = { connection, tools, read, maxRounds, pace };

  async function fetchPage<M extends ListMethod>(
    method: M,
    cursor: string | undefined,
    options: RequestOptions,
  ): Promise<ListPages[M]> {
    const cached = cache.get(method, cursor);
    if (cached !== undefined) return cached as unknown as ListPages[M];
    const keep = cache.open(method, cursor);
    const result = await connection.request({ method, params: cursor === undefined ? {} : { cursor } }, options);
    const page = await read(method, result, method);
    if (method === "tools/list") {
      const listed = page as ListPages["tools/list"];
      listed.tools = tools.take(listed.tools);
    }
    keep(page);
    return page;
  }

  async function list<M extends ListMethod>(method: M, options: RequestOptions = {}): Promise<ListEntries[M][]> {
    checkOptions(method, options, REQUEST_OPTIONS);
    return collect(method, fetchPage as FetchPage, () => cache.drop(method), options);
  }

  /** SEP-2322: it is the client who asks for a task, in each round of the call. */
  function wishing(method: RoundMethod, params: JsonParams, { taskTtlMs: ttl }: CallOptions): JsonParams {
    if (tasks !== "sep2322" || method !== "tools/call") return params;
    return { ...params, task: ttl === undefined ? {} : { ttl } };
  }

  async function call<M extends RoundMethod>(
    method: M,
    params: RoundParams[M],
    options: CallOptions = {},
  ): Promise<RoundResults[M]> {
    checkOptions(method === "tools/call" ? "callTool" : "getPrompt", options, CALL_OPTIONS);
    const flow: Flow<M> = { method, params: wishing(method, copyJson(params), options), capabilities, options };
    return drive(rounds, handlers, flow);
  }

  async function readResource(uri: string, options: CallOptions = {}): Promise<Received<ReadResourceResult>> {
    checkOptions("readResource", options, CALL_OPTIONS);
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
    checkOptions("discover", options, REQUEST_OPTIONS);
    const cached = cache.get("server/discover", undefined);
    if (cached !== undefined) return cached as Received<DiscoverResult>;
    const keep = cache.open("server/discover", undefined);
    const result = await connection.request({ method: "server/discover", params: {} }, options);
    if (!isDiscoverResult(result))
      throw new VolleyError("message_invalid", "The server describes itself in a way that cannot be read.");
    keep(result);
    return result;
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
    if (standing.type !== "complete")
      throw new VolleyError("no_handler", `Nobody is asked for the sake of reading ${uri} again.`);
    if (standing.round === 1) keep(standing.result);
    return standing.result;
  }

  function flowByHand<M extends RoundMethod>(
    method: M,
    params: JsonParams,
    answers: readonly AskKind[],
    options: CallOptions,
  ): Flow<M> {
    return { method, params, capabilities: capabilitiesByHand(answers), options, byHand: answers };
  }

  function capabilitiesByHand(answers: readonly AskKind[]): ClientCapabilities {
    return answers.length === 0 ? capabilities : withTasks(capabilitiesOf(handlers, answers), tasks);
  }

  const byHand: Pick<ByHand, "rounds" | "task"> = {
    rounds,
    task: (data, flow) => createTaskHandle(rounds, handlers, flow.capabilities, data),
  };

  function pickUp(task: string | TaskData): TaskHandle {
    if (tasks === false)
      throw new VolleyError("invalid_options", "This client was connected with tasks: false: connect without it.");
    let data = readTaskData(task);
    if (data === undefined && typeof task === "string" && task !== "" && !task.startsWith("{"))
      data = taskDataOf(connection, task, undefined, tasks === true ? "extension" : tasks, []);
    if (data === undefined)
      throw new VolleyError(
        "invalid_options",
        "This is no task: give its id, or what onTask or toJSON() gave, unchanged.",
      );
    return createTaskHandle(rounds, handlers, capabilitiesByHand(data.answers), data);
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
    pages(method, options = {}) {
      checkOptions("pages", options, REQUEST_OPTIONS);
      return pagesOf(method, fetchPage as FetchPage, options);
    },
    async complete(ref, argument, options = {}) {
      checkOptions("complete", options, COMPLETE_OPTIONS);
      const { settled } = options;
      const params = { ref, argument, ...(settled === undefined ? {} : { context: { arguments: settled } }) };
      const result = await connection.request({ method: "completion/complete", params }, options);
      if (isCompleteResult(result)) return result.completion;
      throw new VolleyError("message_invalid", "The server's completion is no list of values.");
    },
    discover,
    async start(method, params, options = {}) {
      checkOptions("start", options, START_OPTIONS);
      const { answers = ["form", "url"], ...callOptions } = options;
      const asked = wishing(method, copyJson(params as JsonParams), callOptions);
      const flow = flowByHand(method, asked, answers, callOptions);
      return toStarted({ ...byHand, flow }, await play(rounds, flow));
    },
    resume: (data) =>
      resumePending(data, byHand, ({ method, params, answers }) => flowByHand(method, params, answers, {})),
    task: pickUp,
    subscribe(filter, options = {}) {
      checkOptions("subscribe", options, SUBSCRIBE_OPTIONS);
      return subscribe({ connection, changed, readAgain }, filter, options);
    },
    async request(method, params = {}, options = {}) {
      checkOptions("request", options, REQUEST_OPTIONS);
      return await connection.request({ method, params }, options);
    },
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
