import { VolleyError } from "../protocol/index.ts";
import { Arrivals } from "./arrivals.ts";
import { type ContextPromise, isThenable, notAwaited } from "./context-promise.ts";
import { inside } from "./inside.ts";
import type { Entry, Found, Journal, OpenQuestion } from "./journal.ts";
import type { Call, OpenAsk, RunOutcome } from "./outcome.ts";
import type { Carrier, Clock, FlowDefinition, RoundRequest, TaskOptions, Trace } from "./types.ts";

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
  /** Who keeps the journal while the run goes on; undefined when the client carries it afterwards. */
  readonly carrier: Carrier | undefined;
  /** Whether something was recorded that no sealed state has yet. */
  recorded = false;
  /** Entries that were handed out of the journal, and such that came to be. */
  replayed = 0;
  recordedCount = 0;
  /** How much JSON was recorded in this run. */
  recordedBytes = 0;
  /** Whether the round may end with a ticket although nothing was recorded: an effect is under way. */
  mayWait: () => boolean = () => false;
  closed = false;

  readonly #trace: Trace | undefined;
  #asks: readonly OpenAsk[] = [];
  #used: Set<string> | undefined;
  readonly #handed: { readonly name: string; readonly promise: ContextPromise<unknown> }[] = [];
  #finish!: (outcome: RunOutcome) => void;

  readonly #arrivals: Arrivals;
  #working = 0;
  #ticket = false;
  #handOff: TaskOptions | undefined;
  #wakeAt: number | undefined;
  #turnAt = -1;
  readonly #releases: (() => unknown)[] = [];
  #deadline: (() => void) | undefined;
  #controller: AbortController | undefined;

  constructor(
    request: RoundRequest,
    definition: FlowDefinition,
    journal: Journal,
    clock: Clock,
    trace: Trace | undefined,
    carrier?: Carrier,
  ) {
    this.request = request;
    this.definition = definition;
    this.journal = journal;
    this.#arrivals = new Arrivals(journal);
    this.clock = clock;
    this.#trace = trace;
    this.carrier = carrier;
  }

  /** Runs the handler until it returns, throws, or can only go on with answers from outside. */
  play(handler: () => unknown): Promise<RunOutcome> {
    return new Promise((resolve) => {
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
      this.#used ??= new Set();
      const call = type + name;
      if (this.#used.has(call)) {
        throw new VolleyError(
          "ask_reused",
          `The name "${name}" was used twice in one run of ${this.definition.kind} "${this.definition.name}". ` +
            `In a loop write \`${name}:\${id}\`.`,
        );
      }
      this.#used.add(call);
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
    this.replayed++;
    this.#arrivals.replay(found, hand);
    if (this.#arrivals.pending) this.touch();
  }

  /**
   * Records an entry that has just come to be, then hands it out: after everything that arrived in earlier rounds, and
   * where somebody else keeps the journal, after it is kept. Resolves when it is handed out, undefined when it is now.
   */
  record(entry: Entry, call: Call, hand: () => void): Promise<void> | undefined {
    let handing: Promise<void> | undefined;
    const arrive = (): void => {
      if (this.closed) return;
      this.#arrivals.add(entry, call.startedAt);
      this.recorded = true;
      this.recordedCount++;
      if (this.carrier === undefined) hand();
      else handing = this.carrier.save().then(hand, (error: unknown) => this.lose(error));
      this.touch();
    };
    this.#arrivals.later(arrive);
    if (!this.#arrivals.pending) return handing;
    this.touch();
    return new Promise((resolve) => this.#arrivals.later(() => resolve(handing)));
  }

  /** Counts an event and says which it was. */
  mark(): number {
    return this.#arrivals.mark();
  }

  /** Leaves a question open: its promise settles in no run but one that has the answer. */
  open(ask: Omit<OpenAsk, "promise">, promise: Promise<unknown>): void {
    this.#asks = [...this.#asks, { ...ask, promise }];
    this.carrier?.asksChanged();
    this.touch();
  }

  /** Whether this run has asked the question already, whatever became of it. */
  hasAsked(key: string): boolean {
    return this.#used?.has(`a${key}`) ?? false;
  }

  /** Whether this run has called for it by this name, whatever became of it. */
  hasUsed(type: "a" | "s" | "o", name: string): boolean {
    return this.#used?.has(type + name) ?? false;
  }

  /** Takes back the open asks among these promises: they lost a race. */
  withdraw(promises: readonly unknown[]): void {
    this.#asks = this.#asks.filter(({ promise }) => !promises.includes(promise));
    this.carrier?.asksChanged();
  }

  get asks(): readonly OpenAsk[] {
    return this.#asks;
  }

  /** Lets the run end now and go on at that time. */
  wake(at: number): void {
    this.#wakeAt = Math.min(at, this.#wakeAt ?? at);
    this.touch();
  }

  /** Ends the request-carried part of the flow once nothing works and nothing is asked any more. */
  handOff(options: TaskOptions): void {
    this.#handOff = options;
    this.touch();
  }

  /** An open question as the journal keeps it: with whether it was asked before the last group was complete. */
  questionOf(ask: OpenAsk): OpenQuestion {
    const [key, kind, tries, pin, changes] = ask.question;
    return [key, kind, tries, pin, changes, this.#arrivals.overlaps(ask.startedAt) ? 1 : 0];
  }

  /** Ends this round with a state-only result once nothing works any more. */
  wantTicket(): void {
    this.#ticket = true;
    this.touch();
  }

  /** Runs work that holds the round open until what `done` makes of its value is handed out. */
  work<T>(
    name: string,
    work: () => T | Promise<T>,
    done: (value: T) => Promise<void> | undefined | void,
    failed: (error: unknown) => void,
  ): void {
    this.#working++;
    // A task has no round to hand back: its worker's lease is what bounds it.
    if (this.carrier === undefined) {
      this.#deadline ??= this.clock.after(this.definition.roundTimeoutMs, () => this.#timeUp());
    }
    const end = (): void => {
      this.#working--;
      this.touch();
    };
    const fail = (error: unknown): void => {
      failed(error);
      end();
    };
    const succeed = (value: T): void => {
      try {
        const handing = done(value);
        if (handing === undefined) end();
        else handing.then(end, fail);
      } catch (error) {
        fail(error);
      }
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
    const event = this.#arrivals.mark();
    if (this.#turnAt < 0 && !this.closed && this.#mayEnd()) {
      this.#turnAt = event;
      nextTurn(this.#turn);
    }
  }

  /** The flow is another run's: nothing of this one counts any more. */
  lose(error: unknown): void {
    this.#close({ type: "threw", error });
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
    if (this.#arrivals.pending) return true;
    if (this.#working > 0) return false;
    return this.#asks.length > 0 || this.#ticket || this.#handOff !== undefined || this.#wakeAt !== undefined;
  }

  readonly #turn = (): void => {
    const quiet = this.#arrivals.isLast(this.#turnAt);
    this.#turnAt = -1;
    if (this.closed || !this.#mayEnd()) return;
    if (quiet && !this.#arrivals.pending) {
      this.#suspend();
      return;
    }
    if (quiet) this.#arrivals.next();
    this.touch();
  };

  #timeUp(): void {
    if (this.closed) return;
    const reason = new VolleyError("timeout", `The round took longer than ${this.definition.roundTimeoutMs} ms.`);
    this.#controller?.abort(reason);
    if (this.#asks.length > 0 || this.recorded || this.#ticket || this.mayWait()) this.#suspend();
    else if (this.#working > 0) this.#close({ type: "threw", error: reason });
  }

  #suspend(): void {
    // What was asked beside a hand-off is asked first: a task would have to ask it again.
    if (this.#handOff !== undefined && this.#asks.length === 0) {
      this.#close({ type: "handed_off", options: this.#handOff });
    } else {
      this.#close({ type: "suspended", asks: this.asks, wakeAt: this.#wakeAt });
    }
  }

  #returned(value: unknown): void {
    const forgotten = this.#handed.find(({ promise }) => !promise.awaited);
    if (forgotten === undefined) this.#close({ type: "returned", value });
    else this.#close({ type: "threw", error: notAwaited(this.definition, forgotten.name) });
  }

  #close(outcome: RunOutcome): void {
    if (this.closed) return;
    this.closed = true;
    this.#deadline?.();
    if (this.#releases.length === 0) this.#finish(outcome);
    else void this.#release().then(() => this.#finish(outcome));
  }

  /** Last acquired, first released; a failing release keeps no other from running. */
  async #release(): Promise<void> {
    for (const release of this.#releases.reverse()) await release();
  }
}
