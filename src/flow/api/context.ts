import type { FormSchema, FormValue } from "../../elicit/index.ts";
import type { CreateMessageRequestParams, CreateMessageResult, LoggingLevel, Root } from "../../protocol/index.ts";
import type { Principal } from "../../state/index.ts";
import type { ClientView, TaskOptions } from "./types.ts";

/** A form for a person. Make the schema once, outside the handler: it is compiled the first time it is seen. */
export interface FormQuestion<S extends FormSchema> {
  /** What is asked and why, as plain text. No links: use `elicitUrl` for those. */
  readonly message: string;
  readonly schema: S;
  /** Ask again when the message or schema differs from what was answered. Default false; `confirm` always pins. */
  readonly pin?: boolean;
}

/** What a person did with a question. */
export type Outcome<T> =
  | { readonly action: "accept"; readonly value: T }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

export interface Elicit {
  /**
   * Asks a person to fill in a form and resolves with the checked value.
   *
   * Unusable answers are asked for again, at most three times. Needs the client's `elicitation` capability (form), else
   * the request fails with -32021.
   *
   * @throws Declined when the person says no, Cancelled when they dismiss the form.
   * @example
   * ```ts
   * const { size } = await ctx.elicit("size", { message: "Which size?", schema: z.object({ size: z.enum(["S", "M"]) }) });
   * ```
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
   */
  <const S extends FormSchema>(key: string, question: FormQuestion<S>): Promise<FormValue<S>>;

  /** The same, but a decline or a cancel is a value and not an exception. */
  outcome<const S extends FormSchema>(key: string, question: FormQuestion<S>): Promise<Outcome<FormValue<S>>>;
}

/** The first of several contestants to end: its name and what it came to. */
export type Winner<C extends Readonly<Record<string, () => unknown>>> = {
  [K in keyof C & string]: { readonly winner: K; readonly value: Awaited<ReturnType<C[K]>> };
}[keyof C & string];

/** What a step or an effect gets to work with. */
export interface WorkScope {
  /** The same on every try of this work in this flow: hand it to the systems that it calls. */
  readonly idempotencyKey: string;
  /** Fires on disconnect, at the round's limit and at shutdown (step), or only when the claim is lost (once). */
  readonly signal: AbortSignal;
}

export interface OnceOptions<T> {
  /**
   * Your own name for what must happen once (an order number, say), within this principal and tool; not empty. Whoever comes
   * second with it in another call gets the first one's value, whatever was answered there: it must say what makes it this deed.
   * Without it the flow is what is unique, which costs one state-only round where nothing was asked before.
   */
  readonly key?: string;
  /** How long the record is kept, in milliseconds. Goes with `key`; without one it is the flow's deadline. */
  readonly keepFor?: number;
  /** Called instead of the effect when nobody knows whether it happened. It must look before it acts. */
  readonly recover?: (scope: WorkScope) => T | Promise<T>;
}

/**
 * What a handler works with. A handler is run again from its first line in every round: what was answered or done
 * before is handed out of the journal, and the first thing that is not there ends the round.
 *
 * Every ask, step and effect has a name, used once a run; in loops write `` `${name}:${id}` ``.
 */
export interface Context {
  readonly elicit: Elicit;

  /** Asks yes or no; true only when the person accepted and said yes. Always pinned to its message. */
  confirm(key: string, message: string): Promise<boolean>;

  /**
   * Asks a person to open a page. Resolves when they consented, which does not mean that they finished there.
   *
   * @throws Declined, Cancelled; VolleyError `invalid_options` for a URL that is not https (outside loopback) or holds credentials.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#url-mode-elicitation-requests
   */
  elicitUrl(key: string, question: { readonly message: string; readonly url: string }): Promise<void>;

  /**
   * Asks the client's model for a message.
   *
   * @deprecated Sampling is deprecated in revision 2026-07-28; call a model provider from a `step`.
   */
  createMessage(key: string, params: CreateMessageRequestParams): Promise<CreateMessageResult>;

  /**
   * Asks for the client's root directories. The key is `"roots"` unless given.
   *
   * @deprecated Roots are deprecated in revision 2026-07-28; take directories as arguments.
   */
  listRoots(key?: string): Promise<readonly Root[]>;

  /**
   * Does work and remembers its value, so that later rounds do not do it again. At least once: a crash before the next
   * round repeats it. The value is what JSON carries of it; what JSON cannot carry is an error that names the step. What it
   * throws is remembered too, once something rests on it: the error's name, message and code, on the first run as well.
   */
  step<T>(name: string, work: (scope: WorkScope) => T | Promise<T>): Promise<T>;

  /**
   * Does what must happen once: at most once whatever is replayed or retried, exactly once after a success.
   *
   * @throws Conflict when it was done on other answers, InDoubt when nobody knows, Failed when it failed for good.
   */
  once<T>(name: string, effect: (scope: WorkScope) => T | Promise<T>): Promise<T>;
  once<T>(name: string, options: OnceOptions<T>, effect: (scope: WorkScope) => T | Promise<T>): Promise<T>;

  /** Acquires what lives no longer than this round and releases it however that ends, within 5 seconds. */
  use<T>(acquire: () => T | Promise<T>, release: (resource: T) => void | Promise<void>): Promise<T>;

  /** Ends the round without a question when something new was recorded, so that another instance can go on. At most twice a flow. */
  yield(): Promise<void>;

  /**
   * Goes on as a task: the client gets a handle instead of holding a request open, and the handler goes on in a worker
   * from this line. Never back. Costs one state-only round where nothing was asked before; in a task it does nothing.
   *
   * @throws RpcError -32021 when the client has no tasks and no `fallback` is given
   * @see https://github.com/modelcontextprotocol/ext-tasks
   */
  toTask(options?: TaskOptions): Promise<void>;

  /**
   * Waits `ms` milliseconds from when this line was first reached. In a task nothing runs meanwhile. In a request a question
   * beside it goes out at once; by itself it may last no longer than the round (`roundTimeoutMs`).
   *
   * @throws VolleyError `context_misused` when the round would have to wait for longer
   */
  sleep(name: string, ms: number): Promise<void>;

  /**
   * Runs functions beside one another and resolves with the name and the value of the first to end. What the others have
   * asked is not asked any more, their sleeps are over, and nothing further that they call begins. A limit beside a question
   * must be shorter than the tool's `ttlMs`, after which the answer is refused.
   *
   * @throws what the first to end has thrown
   * @example
   * ```ts
   * const first = await ctx.race({
   *   answer: () => ctx.confirm("go", "Deploy now?"),
   *   limit: () => ctx.sleep("limit", 5 * 60_000),
   * });
   * if (first.winner === "limit" || !first.value) return "Nobody approved.";
   * ```
   */
  race<C extends Readonly<Record<string, () => unknown>>>(contestants: C): Promise<Winner<C>>;

  /** Milliseconds since the epoch, remembered under this name. */
  now(name: string): Promise<number>;
  /** A random UUID, remembered under this name. */
  uuid(name: string): Promise<string>;
  /** A random number in [0, 1), remembered under this name. */
  random(name: string): Promise<number>;

  /** Reports progress, when the client asked for it. Values that do not rise are dropped. */
  progress(progress: number, total?: number, message?: string): void;

  /**
   * Sends a log message, when the request set a level at or below this one.
   *
   * @deprecated Logging is deprecated in revision 2026-07-28; use OpenTelemetry or stderr.
   */
  log(level: LoggingLevel, data: unknown, logger?: string): void;

  /** Fires on disconnect, at the round's limit and at shutdown; never because a question is open. */
  readonly signal: AbortSignal;
  readonly principal: Principal;
  readonly client: ClientView;
  /** The number of this round, from 1. */
  readonly round: number;

  /**
   * The answers as they came, for handlers that return an `InputRequiredResult` themselves: JSON, and else not checked.
   *
   * @throws RpcError -32602 for more than 1,000 of them
   */
  readonly inputResponses: Readonly<Record<string, unknown>> | undefined;
  /** The state that such a handler returned before, opened; undefined on the first round. */
  readonly requestState: string | undefined;
}
