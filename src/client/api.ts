// The client as its users see it.
import type {
  CallToolResult,
  ClientCapabilities,
  CompleteResult,
  DiscoverResult,
  GetPromptResult,
  Prompt,
  PromptReference,
  ReadResourceResult,
  Received,
  Resource,
  ResourceTemplate,
  ResourceTemplateReference,
  Result,
  SubscriptionFilter,
  Tool,
} from "../protocol/index.ts";
import type { AskKind } from "./answers.ts";
import type { ServerIdentity } from "./connection.ts";
import type { ListMethod, ListPages } from "./lists.ts";
import type { CallOptions, RequestOptions, TaskData } from "./options.ts";
import type { PendingRound, Started } from "./pending.ts";
import type { RoundMethod } from "./rounds.ts";
import type { SubscribeOptions, Subscription } from "./subscriptions.ts";
import type { TaskHandle } from "./task.ts";

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
   * A task that the call becomes is followed to its end: what failed is an RpcError, what was cancelled a VolleyError
   * `cancelled`, what has outlived its time `timeout`.
   *
   * A structured result that does not fit the tool's output schema is a VolleyError `message_invalid`, with the result as
   * its `cause`.
   *
   * A call that fails after somebody has been asked has what it would have gone on with in its error ({@link pendingOf}).
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
   * Rounds in which nothing is asked are played on by themselves; when one of them fails, it is handed out with nothing to
   * answer, and `continue()` tries it again. A tool may go on as a task: then `task` is there instead of
   * `result`.
   *
   * @example
   * ```ts
   * let step = await client.start("tools/call", { name: "resolve_bug", arguments: { id: 4522 } });
   * while (!step.done) {
   *   for (const key of step.openKeys) step.answer(key, await askSomebody(step.requests[key]));
   *   step = await step.continue();
   * }
   * if (step.task) await save(JSON.stringify(step.task));
   * ```
   */
  start<M extends RoundMethod>(method: M, params: RoundParams[M], options?: StartOptions): Promise<Started<M>>;
  /** Goes on with what {@link PendingRound.toJSON} or {@link pendingOf} gave, as data or as text, in this or another process. */
  resume(data: unknown): PendingRound;
  /**
   * Picks up a task in this or another process: by its id, or by what `onTask` or {@link TaskHandle.toJSON} gave, as data
   * or as text. Nothing is sent yet. By its id alone the result is not held against the tool's output schema.
   *
   * Throws VolleyError `invalid_options` for a client that was connected with `tasks: false`.
   *
   * @example
   * ```ts
   * const result = await client.task(saved).result({ onTask: (task) => show(task.statusMessage) });
   * ```
   * @see https://github.com/modelcontextprotocol/ext-tasks
   */
  task(task: string | TaskData): TaskHandle;
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
