import type { Ledger } from "../ledger/ledger.ts";
import { ErrorCode, RpcError } from "../protocol/index.ts";
import { base64url, type Keyring, type Principal, type Sealer } from "../state/index.ts";
import { type Entry, type FlowBody, type Group, Journal, type OpenQuestion } from "./journal.ts";
import type { LooseAnswers } from "./responses.ts";
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
  /** Names of effects that were done and are the ledger's alone to tell, since the answers that they rest on may change. */
  readonly done: Set<string>;
  /** Effects in the journal that came after an answer which was taken back. */
  readonly #stale = new Set<Entry>();
  /** Whether the client holds a state of this flow, so that a replay can be told from a new flow. */
  readonly presented: boolean;
  /** Whether the journal is of this version of the handler. */
  readonly sameHandler: boolean;
  /** The questions that the presented state left open. */
  readonly asked: ReadonlyMap<string, OpenQuestion>;
  /** In a task: the questions that it has published and that nobody has answered yet. */
  readonly standing: ReadonlyMap<string, StandingQuestion>;
  /** Answers that came without a state: used only where the tool accepts such. */
  readonly loose: LooseAnswers;
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
    opened: { readonly body: Body; readonly deadline: number } | undefined,
    loose: LooseAnswers,
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
    this.journal = restart ? new Journal() : new Journal(body?.j, body?.s);
    this.done = new Set(body?.e);
    if (restart) for (const [type, name] of body.j.flat()) if (type === "o") this.done.add(name);
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

  /** Takes an answer back: its question is asked again, and what was done after it is compared with the next one. */
  takeBack(index: number): void {
    for (const entry of this.journal.entries.slice(index + 1)) {
      if (entry?.[0] === "o") this.done.add(entry[1]);
      if (entry?.[0] === "o" || (entry?.[0] === "f" && entry[1] === "o")) this.#stale.add(entry);
    }
    this.journal.remove(index);
  }

  /** Whether what was done is the ledger's to tell, although the journal has it. */
  isStale(entry: Entry): boolean {
    return this.#stale.has(entry);
  }

  toBody(questions: readonly OpenQuestion[], manualState: string | undefined): Body {
    return {
      f: this.id,
      n: this.round,
      v: this.version,
      q: questions,
      j: this.#fresh(this.journal.groups),
      y: this.yields,
      w: this.waits,
      ...(this.journal.sleeps.size === 0 ? {} : { s: [...this.journal.sleeps] }),
      ...(this.done.size === 0 ? {} : { e: [...this.done] }),
      ...(manualState === undefined ? {} : { m: manualState }),
      ...(this.origin === undefined ? {} : { t: this.origin }),
    };
  }

  #fresh(groups: readonly Group[]): readonly Group[] {
    if (this.#stale.size === 0) return groups;
    return groups.map((group) => group.filter((entry) => !this.#stale.has(entry))).filter((group) => group.length > 0);
  }
}

type Body = FlowBody & { readonly e?: readonly string[] };

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
