import { AsyncLocalStorage } from "node:async_hooks";
import { type InputRequest, VolleyError } from "../protocol/index.ts";
import { ContextPromise, defer } from "./context-promise.ts";
import type { Entry, Found, Journal, OpenQuestion } from "./journal.ts";
import type { Clock, FlowDefinition, RoundRequest, Trace } from "./types.ts";

/** How a run ended. */
export type RunOutcome =
  | { readonly type: "returned"; readonly value: unknown }
  | { readonly type: "threw"; readonly error: unknown }
  | { readonly type: "suspended"; readonly asks: readonly OpenAsk[] };

/** A question that this run could not answer from the journal. */
export interface OpenAsk {
  readonly key: string;
  readonly request: InputRequest;
  readonly question: OpenQuestion;
  /** When it was asked, in the run's own count of events. */
  readonly startedAt: number;
  readonly promise: Promise<unknown>;
}

/** One call on the context while it is under way. */
export interface Call {
  readonly name: string;
  readonly startedAt: number;
}

/** Steps and effects run inside this, so that a context call made in one can be told from a call beside it. */
const inside = new AsyncLocalStorage<{ readonly run: Run; readonly name: string }>();

/** Whether the caller runs inside a step or effect of any run. */
export function isInsideWork(): boolean {
  return inside.getStore() !== undefined;
}

const nextTurn: (task: () => void) => void =
  typeof setImmediate === "function" ? (task) => void setImmediate(task) : (task) => void setTimeout(task, 0);

/**
 * One run of a handler: hands out the journal, collects what is asked, and notices when nothing more can happen.
 *
 * Suspension is out of band: an open ask's promise never settles, nothing is thrown, and once the run is closed the
 * handler's frames are garbage. Only context calls hold a round open; raw I/O beside an ask does not.
 */
export class Run {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly request: RoundRequest;
  readonly definition: FlowDefinition;
  /** Whether something was recorded that no sealed state has yet. */
  recorded = false;
  /** How much JSON was recorded in this run. */
  recordedBytes = 0;
  /** Whether the round may end with a ticket although nothing was recorded: an effect is under way. */
  mayWait: () => boolean = () => false;
  closed = false;

  readonly #trace: Trace | undefined;
  readonly #asks = new Map<string, OpenAsk>();
  readonly #used = new Set<string>();
  readonly #handed: { readonly name: string; readonly promise: ContextPromise<unknown> }[] = [];
  #finish!: (outcome: RunOutcome) => void;

  #events = 0;
  #lastArrival = -1;
  #working = 0;
  #ticket = false;
  #turnAt = -1;
  #openGroups = 1;
  readonly #waiting: { readonly found: Found; readonly hand: () => void }[] = [];
  readonly #held: (() => void)[] = [];
  readonly #releases: (() => unknown)[] = [];
  #deadline: (() => void) | undefined;
  #controller: AbortController | undefined;

  constructor(
    request: RoundRequest,
    definition: FlowDefinition,
    journal: Journal,
    clock: Clock,
    trace: Trace | undefined,
  ) {
    this.request = request;
    this.definition = definition;
    this.journal = journal;
    this.clock = clock;
    this.#trace = trace;
  }

  /** Runs the handler until it returns, throws, or can only go on with answers from outside. */
  async play(handler: () => unknown): Promise<RunOutcome> {
    const outcome = await new Promise<RunOutcome>((resolve) => {
      this.#finish = resolve;
      try {
        const returned = handler();
        if (isThenable(returned)) {
          returned.then(
            (value) => this.#returned(value),
            (error: unknown) => this.#close({ type: "threw", error }),
          );
        } else this.#returned(returned);
      } catch (error) {
        this.#close({ type: "threw", error });
      }
    });
    // Last acquired, first released; a failing release keeps no other from running.
    for (const release of this.#releases.reverse()) await release();
    return outcome;
  }

  /** Begins a context call; undefined when the run is closed and the call must never settle. */
  begin(type: "a" | "s" | "o" | "u", name: string): Call | undefined {
    if (this.closed) {
      this.#trace?.({ type: "late_call", target: this.definition.name, name });
      return undefined;
    }
    const scope = inside.getStore();
    if (scope?.run === this) {
      throw new VolleyError(
        "context_misused",
        `"${name}" was called inside "${scope.name}". Steps and effects may not use the context: move the call out of it.`,
      );
    }
    if (type !== "u") {
      if (this.#used.has(type + name)) {
        throw new VolleyError(
          "ask_reused",
          `The name "${name}" was used twice in one run of ${this.definition.kind} "${this.definition.name}". ` +
            `In a loop write \`${name}:\${id}\`.`,
        );
      }
      this.#used.add(type + name);
    }
    return { name, startedAt: this.mark() };
  }

  /** Remembers what was handed out, so that a call nobody awaited can be named. */
  hand<T>(name: string, promise: ContextPromise<T>): ContextPromise<T> {
    this.#handed.push({ name, promise });
    return promise;
  }

  /** Hands out a journal entry: now, or a turn after the groups before it. */
  replay(found: Found, hand: () => void): void {
    const arrive = (): void => {
      this.#lastArrival = this.#events++;
      hand();
    };
    if (found.group < this.#openGroups) arrive();
    else {
      this.#waiting.push({ found, hand: arrive });
      this.touch();
    }
  }

  /** Records an entry that has just come to be, then hands it out: after everything that arrived in earlier rounds. */
  record(entry: Entry, call: Call, hand: () => void): void {
    const arrive = (): void => {
      if (this.closed) return;
      const found = this.journal.add(entry, call.startedAt < this.#lastArrival);
      this.#openGroups = Math.max(this.#openGroups, found.group + 1);
      this.recorded = true;
      this.#lastArrival = this.#events++;
      hand();
      this.touch();
    };
    if (this.#waiting.length === 0) arrive();
    else this.#held.push(arrive);
  }

  /** Counts an event and says when it was. */
  mark(): number {
    return this.#events++;
  }

  /** Leaves a question open: its promise settles in no run but one that has the answer. */
  open(ask: Omit<OpenAsk, "promise">, promise: Promise<unknown>): void {
    this.#asks.set(ask.key, { ...ask, promise });
    this.touch();
  }

  /** Takes back the open asks among these promises: they lost a race. */
  withdraw(promises: readonly unknown[]): void {
    for (const ask of this.#asks.values()) if (promises.includes(ask.promise)) this.#asks.delete(ask.key);
  }

  /** Whether a question that is sealed now was asked before the last group was complete. */
  overlaps(ask: OpenAsk): boolean {
    return ask.startedAt < this.#lastArrival;
  }

  /** Ends this round with a state-only result once nothing works any more. */
  wantTicket(): void {
    this.#ticket = true;
    this.touch();
  }

  /** Runs work that holds the round open. */
  work<T>(name: string, work: () => T | Promise<T>, done: (value: T) => void, failed: (error: unknown) => void): void {
    this.#working++;
    this.#deadline ??= this.clock.after(this.definition.roundTimeoutMs, () => this.#timeUp());
    const end = (): void => {
      this.#working--;
      this.touch();
    };
    const succeed = (value: T): void => {
      try {
        done(value);
      } catch (error) {
        failed(error);
      }
      end();
    };
    const fail = (error: unknown): void => {
      failed(error);
      end();
    };
    try {
      const value = inside.run({ run: this, name }, work);
      if (isThenable(value)) value.then(succeed, fail);
      else succeed(value);
    } catch (error) {
      fail(error);
    }
  }

  /** Something happened: look whether the run is quiet after one more turn of the event loop. */
  touch(): void {
    const event = this.#events++;
    if (this.#turnAt < 0 && !this.closed && this.#mayEnd()) {
      this.#turnAt = event;
      nextTurn(this.#turn);
    }
  }

  releaseAtEnd(release: () => unknown): void {
    this.#releases.push(release);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      this.request.exchange.onAbort((reason) => controller.abort(reason));
    }
    return this.#controller.signal;
  }

  #mayEnd(): boolean {
    return (
      this.#waiting.length > 0 ||
      this.#held.length > 0 ||
      (this.#working === 0 && (this.#asks.size > 0 || this.#ticket))
    );
  }

  readonly #turn = (): void => {
    const quiet = this.#turnAt === this.#events - 1;
    this.#turnAt = -1;
    if (this.closed || !this.#mayEnd()) return;
    if (!quiet) this.touch();
    else if (this.#waiting.length > 0) this.#openNextGroup();
    else if (this.#held.length > 0) this.#handNextHeld();
    else this.#suspend();
  };

  #openNextGroup(): void {
    const next = Math.min(...this.#waiting.map(({ found }) => found.group));
    this.#openGroups = next + 1;
    const opened = this.#waiting.filter(({ found }) => found.group <= next);
    this.#waiting.splice(0, this.#waiting.length, ...this.#waiting.filter(({ found }) => found.group > next));
    for (const { hand } of opened) hand();
    this.touch();
  }

  #handNextHeld(): void {
    this.#held.shift()?.();
    this.touch();
  }

  #timeUp(): void {
    if (this.closed) return;
    const reason = new VolleyError("timeout", `The round took longer than ${this.definition.roundTimeoutMs} ms.`);
    this.#controller?.abort(reason);
    if (this.#asks.size > 0 || this.recorded || this.#ticket || this.mayWait()) this.#suspend();
    else if (this.#working > 0) this.#close({ type: "threw", error: reason });
  }

  #suspend(): void {
    this.#close({ type: "suspended", asks: [...this.#asks.values()] });
  }

  #returned(value: unknown): void {
    const forgotten = this.#handed.find(({ promise }) => !promise.awaited);
    if (forgotten === undefined) this.#close({ type: "returned", value });
    else {
      const error = new VolleyError(
        "context_misused",
        `The handler of ${this.definition.kind} "${this.definition.name}" returned without awaiting "${forgotten.name}". ` +
          "Put `await` before the call.",
      );
      this.#close({ type: "threw", error });
    }
  }

  #close(outcome: RunOutcome): void {
    if (this.closed) return;
    this.closed = true;
    this.#deadline?.();
    this.#finish(outcome);
  }
}

export function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** A promise for calls on a closed run: it never settles. */
export function never<T>(): ContextPromise<T> {
  return defer<T>().promise;
}

/** A promise that is settled already. */
export function settled<T>(value: T): ContextPromise<T> {
  return new ContextPromise<T>((resolve) => resolve(value));
}
