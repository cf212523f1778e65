import type { Ledger } from "../ledger/ledger.ts";
import { ErrorCode, RpcError } from "../protocol/index.ts";
import { base64url, type Keyring, type Principal, type Sealer } from "../state/index.ts";
import { type FlowBody, Journal, type OpenQuestion } from "./journal.ts";
import type { Clock, FlowDefinition, LoadMonitor, TaskStarter, Trace, TracedRound } from "./types.ts";

/** What every round works with; made once for a server. */
export interface RoundServices {
  readonly sealer: Sealer;
  readonly keyring: Keyring;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly trace: Trace | undefined;
  /** Whether the trace wants to hear of rounds, and not only of faults. */
  readonly traceRounds?: boolean | undefined;
  /** Undefined where the server has no task engine. */
  readonly tasks?: TaskStarter | undefined;
  /** Undefined where load is never shed. */
  readonly shedding?: LoadMonitor | undefined;
  /** Refuses by a throw what a caller may not do that often. */
  readonly admitEffect?: ((principal: Principal) => void | Promise<void>) | undefined;
  /** Throws where what is recorded once would be this process's alone, although it may be one of several. */
  readonly requireShared?: (() => void) | undefined;
  /** Warnings for authors are traced. */
  readonly development: boolean;
}

/** One flow as one round sees it: what the presented state held, or a new beginning. */
export class Flow {
  readonly definition: FlowDefinition;
  readonly services: RoundServices;
  readonly principal: Principal;
  /** When this round began, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly deadline: number;
  readonly round: number;
  /** The newest handler version that the flow has met. */
  readonly version: number;
  readonly journal: Journal;
  /** Whether the client holds a state of this flow, so that a replay can be told from a new flow. */
  readonly presented: boolean;
  /** Whether the journal is of this version of the handler. */
  readonly sameHandler: boolean;
  /** The questions that the presented state left open. */
  readonly asked: ReadonlyMap<string, OpenQuestion>;
  /** In a task: the questions that it has published and that nobody has answered yet. */
  readonly standing: ReadonlyMap<string, StandingQuestion>;
  /** Answers that came without a state: used only where the tool accepts such. */
  readonly loose: ReadonlyMap<string, unknown>;
  /** The state of a handler that keeps its own. */
  readonly manualState: string | undefined;
  yields: number;
  /** This round ends with a voluntary ticket. */
  yielded = false;
  /** This round, for those who trace it. */
  traced: TracedRound | undefined;
  /** What the trace of an earlier round wants to find again. */
  origin: string | undefined;
  waits: number;
  #id: string | undefined;

  constructor(
    definition: FlowDefinition,
    services: RoundServices,
    principal: Principal,
    opened: { readonly body: FlowBody; readonly deadline: number } | undefined,
    loose: ReadonlyMap<string, unknown>,
    standing: ReadonlyMap<string, StandingQuestion> = NONE_STANDING,
  ) {
    this.definition = definition;
    this.services = services;
    this.principal = principal;
    this.startedAt = services.clock.now();
    this.loose = loose;
    this.standing = standing;
    this.presented = opened !== undefined;
    const body = opened?.body;
    this.deadline = opened?.deadline ?? this.startedAt + definition.flowMs;
    this.round = (body?.n ?? 0) + 1;
    this.version = Math.max(body?.v ?? 0, definition.version);
    this.yields = body?.y ?? 0;
    this.waits = body?.w ?? 0;
    this.#id = body?.f;
    this.origin = body?.t;
    const restart = body !== undefined && body.v < definition.version && definition.whenOlder === "restart";
    this.sameHandler = body === undefined || body.v === definition.version;
    this.journal = restart
      ? new Journal(body.j.map((group) => group.filter((entry) => entry[0] === "o")))
      : new Journal(body?.j, body?.s);
    this.asked =
      restart || body === undefined ? NO_QUESTIONS : new Map(body.q.map((question) => [question[0], question]));
    this.manualState = restart ? undefined : body?.m;
  }

  /** Random, made when it is first needed: a call that asks nothing has no flow. */
  get id(): string {
    const id = this.#id ?? base64url(this.services.random(16));
    this.#id = id;
    return id;
  }

  /** The id if anybody needed one. */
  get knownId(): string | undefined {
    return this.#id;
  }

  toBody(questions: readonly OpenQuestion[], manualState: string | undefined): FlowBody {
    return {
      f: this.id,
      n: this.round,
      v: this.version,
      q: questions,
      j: this.journal.groups,
      y: this.yields,
      w: this.waits,
      ...(this.journal.sleeps.size === 0 ? {} : { s: [...this.journal.sleeps] }),
      ...(manualState === undefined ? {} : { m: manualState }),
      ...(this.origin === undefined ? {} : { t: this.origin }),
    };
  }
}

/** A question that waits in a task, with the reason why it was asked again. */
export interface StandingQuestion {
  readonly question: OpenQuestion;
  readonly reason: string;
}

const NO_QUESTIONS: ReadonlyMap<string, OpenQuestion> = new Map();
const NONE_STANDING: ReadonlyMap<string, StandingQuestion> = new Map();

/** The one refusal of a state, whatever is wrong with it; `reason` is constant so that a client can offer to start again. */
export function refusedState(): RpcError {
  return new RpcError(
    ErrorCode.InvalidParams,
    "The request state is not valid for this request. Start again without requestState and inputResponses.",
    { reason: "state_refused" },
  );
}
