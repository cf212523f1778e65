import type {
  ClientCapabilities,
  Implementation,
  InputRequiredResult,
  LoggingLevel,
  ProgressToken,
} from "../../protocol/index.ts";
import type { Principal } from "../../state/index.ts";

/** What a transport gives a running request. */
export interface Exchange {
  /** Sends a notification on the request's own stream; does nothing once the reply is out. */
  notify(method: string, params: Record<string, unknown>): void;
  /** Calls back when the client is gone, has cancelled, or the server closes; at once when that has happened. */
  onAbort(listener: (reason: Error) => void): void;
}

/** One round as it came, checked as a message but not as a continuation. */
export interface RoundRequest {
  readonly method: "tools/call" | "prompts/get" | "resources/read";
  /** `params.name` or `params.uri`, as it came. */
  readonly target: string;
  /** Raw `params.arguments`, which passed `checkJson`; undefined for resources. */
  readonly arguments: unknown;
  /** Raw `params.requestState`; undefined when absent. */
  readonly requestState: unknown;
  /** Raw `params.inputResponses`; undefined when absent. */
  readonly inputResponses: unknown;
  readonly principal: Principal;
  readonly client: ClientView;
  readonly progressToken: ProgressToken | undefined;
  readonly logLevel: LoggingLevel | undefined;
  readonly exchange: Exchange;
  /** Where the client says that this request belongs in its own trace. */
  readonly traceContext?: TraceContext | undefined;
  /** All arguments as they came, where a state is bound to a part of them: a task checks them again. */
  readonly allArguments?: unknown;
  /** The request itself asks for a task, as clients of SEP-2322 do. */
  readonly task?: TaskWish | undefined;
}

/** W3C Trace Context as it came: not checked. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

/** What a client of SEP-2322 wants of a task. */
export interface TaskWish {
  readonly ttlMs: number | undefined;
}

/** What this request says of its client: self-reported, for display and capability checks only. */
export interface ClientView {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}

/** Keeps the journal of a flow that does not travel with its client. */
export interface Carrier {
  /** Makes what was recorded durable: nothing is handed out before. Rejects when the flow is no longer this run's. */
  save(): Promise<void>;
  /** Questions were opened or withdrawn, and may be published while steps go on. */
  asksChanged(): void;
  /** Undefined while the flow is surely this run's; else resolves once it is again, and rejects when it is another's. */
  hold(): Promise<void> | undefined;
}

/** How a flow goes on once it is a task. */
export interface TaskOptions {
  /** How long the task is kept, from its creation, in milliseconds. Default 1 hour. */
  readonly ttlMs?: number;
  /** How often a client should look, in milliseconds. Default 1,000. */
  readonly pollIntervalMs?: number;
  /** What the client shows until the task says more. */
  readonly message?: string;
  /** For clients without tasks: `"inline"` goes on in the request; default an error with -32021. */
  readonly fallback?: "inline";
}

export type RoundReply =
  | { readonly type: "complete"; readonly value: unknown }
  | { readonly type: "input_required"; readonly result: InputRequiredResult }
  /** The flow goes on as a task; what the client gets is its handle. */
  | { readonly type: "task"; readonly result: Record<string, unknown> };

/** Per tool, prompt or resource: how its flows are carried. Times in milliseconds. */
export interface FlowOptions {
  /** How long one state may wait for its answers. Default 10 minutes, at most 30 days. */
  readonly ttlMs?: number;
  /** How long a whole flow may take, fixed in its first round. Default 1 hour (or `ttlMs`), at most 30 days. */
  readonly flowMs?: number;
  /** The largest `requestState` sent or accepted, in bytes. Default 64 KiB. */
  readonly maxStateBytes?: number;
  /**
   * The limit of a round, whatever it waits for. What a call of the context has under way by then goes on in another round;
   * any other round fails. Default 30 seconds, at most an hour.
   */
  readonly roundTimeoutMs?: number;
  /** The handler's version, sealed into each state. Default 1. */
  readonly version?: number;
  /** What to do with a state of an older version: go on by key (default), start over, or refuse it. */
  readonly whenOlder?: "continue" | "restart" | "refuse";
  /**
   * Whether answers that come without any state are used. Default `"ask"`: they are asked for again.
   * `"accept"` excludes `confirm`, `pin` and `once`, since such answers are nobody's proof of anything.
   */
  readonly answersWithoutState?: "ask" | "accept";
  /**
   * Which part of the arguments a state is bound to; the handler receives only that part.
   * Default: all of them.
   */
  readonly salient?: (args: Record<string, unknown>) => Record<string, unknown>;
  /**
   * Lets each state be used with one set of answers: another set is refused as any state that is not valid, the same set may
   * come again. Default false: answers may be corrected by an older state until the first effect of `once`.
   * Costs one look into the ledger in every round after the first.
   */
  readonly singleUse?: boolean;
}

/** {@link FlowOptions} with every default filled in, made once at registration by `defineFlow`. */
export interface FlowDefinition {
  readonly kind: "tool" | "prompt" | "resource";
  readonly name: string;
  readonly ttlMs: number;
  readonly flowMs: number;
  readonly maxStateBytes: number;
  readonly roundTimeoutMs: number;
  readonly version: number;
  readonly whenOlder: "continue" | "restart" | "refuse";
  readonly answersWithoutState: "ask" | "accept";
  readonly salient: ((args: Record<string, unknown>) => Record<string, unknown>) | undefined;
  readonly singleUse: boolean;
}

/** Takes over flows that go on as tasks. */
export interface TaskStarter {
  /** Makes the flow's task durable, or finds the one that it already has, and resolves with the handle for the client. */
  start(start: TaskStart): Promise<Record<string, unknown>>;
}

export interface TaskStart {
  /** The flow's secret id: one flow has at most one task. */
  readonly flow: string;
  /** The journal as JSON. */
  readonly body: unknown;
  readonly deadline: number;
  /** One digest of all answers so far: a task that rests on others is another one's. */
  readonly answers: string;
  readonly request: RoundRequest;
  readonly definition: FlowDefinition;
  readonly options: TaskOptions;
}

/** Time as the flow sees it, so that tests can hold it still. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `task` after `ms`; the returned function takes it back. */
  after(ms: number, task: () => void): () => void;
}

/** Says whether a process has too much to do to begin more work. */
export interface LoadMonitor {
  /** Asked before each new step and effect: it must be cheap. */
  overloaded(): boolean;
}

/** The round that an event belongs to: one object a round, the same in all its events. */
export interface TracedRound {
  readonly method: RoundRequest["method"];
  readonly kind: FlowDefinition["kind"];
  /** Under which name the tool, prompt or resource was registered; never what the client sent. */
  readonly name: string;
  readonly round: number;
  /** It is played by a worker, not for a request. */
  readonly task: boolean;
  readonly parent: TraceContext | undefined;
  /**
   * What a trace wants to find again in the flow's later rounds, wherever they are played, such as the id of the first
   * span. Written while `round_started` is told, it is sealed into the state: every byte travels with every round.
   */
  origin: string | undefined;
  /** Set while `round_started` is told: calls the handler, in a context of the trace's own. */
  enter?: <T>(call: () => T) => T;
}

/** What happened inside, for the operator: the place for the precise reasons that a peer is never told. */
export type TraceEvent =
  | {
      readonly type: "state_refused";
      readonly reason: string;
      readonly method: string;
      readonly target: string;
      /** The id of the key that sealed it, where it is none of `kids`, the keys of this server. */
      readonly kid?: string;
      readonly kids?: readonly string[];
    }
  /** Which key sealed a state that came back, and when, in milliseconds since the epoch: `volley keys` counts them. */
  | { readonly type: "state_opened"; readonly target: string; readonly kid: string; readonly sealedAt: number }
  | { readonly type: "answers_without_state"; readonly target: string; readonly keys: readonly string[] }
  | {
      readonly type: "asked_again";
      readonly within: TracedRound | undefined;
      readonly target: string;
      readonly key: string;
      readonly reason: string;
    }
  /** A question went out again and again, and no answer was of use. */
  | {
      readonly type: "asked_often";
      readonly within: TracedRound | undefined;
      readonly target: string;
      readonly key: string;
      readonly times: number;
    }
  /** The flow has answers and steps whose names its handler did not come to before it asked something else. */
  | {
      readonly type: "name_changed";
      readonly within: TracedRound | undefined;
      readonly target: string;
      /** Ten at most. */
      readonly names: readonly { readonly type: "ask" | "step"; readonly name: string }[];
    }
  /** A client of an earlier revision, by what it asked for, was told that this server does not speak it. */
  | { readonly type: "client_refused"; readonly requested: string }
  /** A request was refused with 403, by what it has in this header. */
  | { readonly type: "name_refused"; readonly header: "host" | "origin"; readonly name: string }
  /** Told, as all events that need a `TracedRound`, only where the server was given a trace. */
  | { readonly type: "round_started"; readonly within: TracedRound }
  | {
      readonly type: "round";
      readonly within: TracedRound | undefined;
      readonly target: string;
      readonly flow: string | undefined;
      readonly round: number;
      /** `complete`, `input_required`, `task` or `threw`; in a task `returned`, `suspended` or `threw`. */
      readonly outcome: string;
      /** What kind of error it ended with: a code or a name, never a message. */
      readonly error: string | undefined;
      readonly durationMs: number;
      /** Answers and values that came out of the journal. */
      readonly replayed: number;
      /** Values that came to be in this round. */
      readonly recorded: number;
      /** Questions that the round left open. */
      readonly asked: number;
    }
  | { readonly type: "asked"; readonly within: TracedRound; readonly key: string; readonly tries: number }
  | {
      readonly type: "answered";
      readonly within: TracedRound;
      readonly key: string;
      /** It was answered in an earlier round. */
      readonly replayed: boolean;
    }
  | {
      readonly type: "step";
      readonly within: TracedRound;
      readonly name: string;
      readonly replayed: boolean;
      readonly failed: boolean;
      readonly durationMs: number;
    }
  | {
      readonly type: "effect";
      readonly within: TracedRound | undefined;
      readonly target: string;
      readonly name: string;
      readonly outcome: EffectOutcome;
    }
  | { readonly type: "late_call"; readonly target: string; readonly name: string }
  /** The process had too much to do: the flow goes on in a later round. */
  | {
      readonly type: "shed";
      readonly within: TracedRound | undefined;
      readonly target: string;
      readonly round: number;
    }
  /** Something was refused with 429, by the server's limit of this name. */
  | { readonly type: "limited"; readonly limit: string }
  | { readonly type: "many_rounds"; readonly target: string; readonly round: number }
  | { readonly type: "warning"; readonly target: string; readonly message: string }
  /** `reference`: what the caller was told in place of the error. */
  | { readonly type: "fault"; readonly target: string; readonly error: unknown; readonly reference?: string };

/**
 * What the ledger said of an effect, or what became of one that was claimed: `done`, `failed`, `not_done`, `in_doubt`, or
 * `lost` to another owner. `replayed`: the flow's own journal had its value.
 */
export type EffectOutcome =
  | "claimed"
  | "settled"
  | "conflict"
  | "running"
  | "in_doubt"
  | "expired"
  | "done"
  | "failed"
  | "not_done"
  | "lost"
  | "replayed";

export type Trace = (event: TraceEvent) => void;
