import { VolleyError } from "../protocol/index.ts";
import { Arrivals, type Hand } from "./arrivals.ts";
import type { Call, Contestant } from "./call.ts";
import { type ContextPromise, isThenable, never, notAwaited, rejected } from "./context-promise.ts";
import { asReplayed, toFailure } from "./failure.ts";
import type { Flow } from "./flow.ts";
import { inside } from "./inside.ts";
import type { Entry, Found, Journal, OpenQuestion } from "./journal.ts";
import type { OpenAsk, RunOutcome } from "./outcome.ts";
import { Releases } from "./releases.ts";
import { Sleeps } from "./sleeps.ts";
import { afterMicrotasks, nextTurn } from "./turns.ts";
import type { Carrier, Clock, FlowDefinition, RoundRequest, TaskOptions, Trace } from "./types.ts";

/** How long a replay waits for a call that came earlier than those that wait behind it: raw I/O may lie before it. */
const PATIENCE_MS = 1_000;

/**
 * One run of a handler: hands out the journal, collects what is asked, and notices when nothing more can happen.
 *
 * Suspension is out of band: an open ask's promise never settles, nothing is thrown, and once the run is closed nothing
 * that it handed out settles any more, so that the handler's frames are garbage. Only context calls hold a round open; raw
 * I/O beside an ask does not.
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
  /** The handler does again what it did in an earlier round of this flow. */
  repeats: boolean;
  /** Whether the round may end with a ticket although nothing was recorded: an effect is under way. */
  mayWait: () => boolean = () => false;
  closed = false;

  readonly #trace: Trace | undefined;
  readonly #arrivals: Arrivals;
  #sleeps: Sleeps | undefined;
  #releases: Releases | undefined;
  #asks: readonly OpenAsk[] = [];
  #used: Set<string> | undefined;
  readonly #handed: { readonly name: string; readonly promise: ContextPromise<unknown> }[] = [];
  #finish!: (outcome: RunOutcome) => void;
  #working = 0;
  #ticket = false;
  #handOff: TaskOptions | undefined;
  #turnAt = -1;
  #handing = false;
  /** The handler has ended, by itself. */
  #ended = false;
  #endsAt = Number.POSITIVE_INFINITY;
  #cancelDeadline: (() => void) | undefined;
  #cancelPatience: (() => void) | undefined;
  #controller: AbortController | undefined;

  constructor(flow: Flow, request: RoundRequest, carrier?: Carrier) {
    const { definition, journal, services } = flow;
    this.request = request;
    this.definition = definition;
    this.journal = journal;
    this.clock = services.clock;
    this.repeats = flow.presented;
    this.carrier = carrier;
    this.#trace = services.trace;
    this.#arrivals = new Arrivals(journal, flow.sameHandler);
  }

  /** Runs the handler until it returns, throws, or can only go on with answers from outside. */
  play(handler: () => unknown): Promise<RunOutcome> {
    return new Promise((resolve) => {
      this.#finish = resolve;
      try {
        const returned = handler();
        if (isThenable(returned)) {
          this.#limit();
          returned.then(
            (value) => this.#returned(value),
            (error: unknown) => this.#end({ type: "threw", error }),
          );
        } else this.#returned(returned);
      } catch (error) {
        this.#end({ type: "threw", error });
      }
    });
  }

  /** Begins a context call; undefined when it must begin nothing: see {@link refuse}. */
  begin(type: "a" | "s" | "o" | "u", name: string): Call | undefined {
    if (this.closed) {
      this.#trace?.({ type: "late_call", target: this.definition.name, name });
      return undefined;
    }
    const place = inside.getStore();
    const within = place?.run === this ? place : undefined;
    if (within?.work !== undefined) {
      throw new VolleyError(
        "context_misused",
        `"${name}" was called inside "${within.work}". Steps and effects may not use the context: move the call out of it.`,
      );
    }
    if (within?.contestant?.lost) return undefined;
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
    const call: Call = { name, startedAt: this.#arrivals.mark(), contestant: within?.contestant, working: false };
    within?.contestant?.add(call);
    return call;
  }

  /** What a call gets that begins nothing: it never settles, or says that its handler has ended long ago. */
  refuse<T>(name: string): ContextPromise<T> {
    if (!this.closed || !this.#ended) return never();
    const { kind, name: target } = this.definition;
    return rejected(
      new VolleyError(
        "context_misused",
        `"${name}" was called after the handler of ${kind} "${target}" had ended. Await all that uses the context in the handler.`,
      ),
    );
  }

  /** Remembers what was handed out, so that a call nobody awaited can be named. */
  hand<T>(name: string, promise: ContextPromise<T>): ContextPromise<T> {
    this.#handed.push({ name, promise });
    return promise;
  }

  /** Hands out a journal entry when its turn has come. */
  replay(found: Found, call: Call, hand: Hand): void {
    this.replayed++;
    this.#arrivals.expect(found.index, call, hand);
    this.touch();
  }

  /**
   * Records an entry that has just come to be, and hands it out when its turn has come: after everything that arrived
   * before, and where somebody else keeps the journal, when it is kept.
   */
  record(entry: Entry, call: Call, hand: Hand): void {
    if (this.closed || call.contestant?.lost) return;
    const waiter = this.#arrivals.add(entry, call, hand);
    // A failure alone is nothing to carry: as long as nothing else came, a later run may as well try again.
    if (entry[0] !== "f") {
      this.recorded = true;
      this.recordedCount++;
      if (this.carrier !== undefined) {
        waiter.ready = false;
        const saved = (): void => {
          waiter.ready = true;
          this.touch();
        };
        this.carrier.save().then(saved, (error: unknown) => this.lose(error));
      }
    }
    this.touch();
  }

  /** Records that work has failed, as it will fail in every replay. */
  recordFailure(type: "s" | "o", error: unknown, call: Call, reject: (error: unknown) => void): void {
    const failure = toFailure(error);
    this.record(["f", type, call.name, failure], call, () => reject(asReplayed(error, failure)));
  }

  /** Hands out what no journal has, such as an open resource. */
  handAside(call: Call, hand: () => void): void {
    this.#arrivals.addAside(call, hand);
    this.touch();
  }

  /** Leaves a question open: its promise settles when an answer comes, in this run or another. */
  open(ask: OpenAsk): void {
    if (this.closed || ask.call.contestant?.lost) return;
    this.#asks = [...this.#asks, ask];
    this.carrier?.asksChanged();
    this.touch();
  }

  /** Takes an answer that comes while the run goes on; false when nobody waits for it. */
  take(key: string, response: unknown): boolean {
    const ask = this.closed ? undefined : this.#asks.find((open) => open.key === key);
    if (ask === undefined) return false;
    this.#asks = this.#asks.filter((open) => open !== ask);
    ask.answer(response);
    return true;
  }

  /** Whether this run has asked the question already, whatever became of it. */
  hasAsked(key: string): boolean {
    return this.#used?.has(`a${key}`) ?? false;
  }

  /** Takes back what these sides of a race have opened, and lets no work of theirs hold the round. */
  withdraw(contestants: readonly Contestant[]): void {
    for (const call of contestants.flatMap(({ calls }) => calls)) {
      if (call.working) this.#working--;
      call.working = false;
    }
    this.#arrivals.withdraw();
    for (const name of this.#sleeps?.withdraw() ?? []) this.journal.sleeps.delete(name);
    const before = this.#asks.length;
    this.#asks = this.#asks.filter(({ call }) => !call.contestant?.lost);
    if (this.#asks.length < before) this.carrier?.asksChanged();
    this.touch();
  }

  /** Whether what the handler tells the client is told already, or comes too late. */
  get silent(): boolean {
    // What a task tells is its status, which a replay passes through at once.
    return this.closed || (this.repeats && this.carrier === undefined);
  }

  get asks(): readonly OpenAsk[] {
    return this.#asks;
  }

  /** Waits until that time, in this run or a later one. */
  sleep(call: Call, until: number, resolve: () => void): void {
    if (!this.journal.sleeps.has(call.name)) {
      this.journal.sleeps.set(call.name, until);
      this.carrier?.save().catch((error: unknown) => this.lose(error));
    }
    this.#sleeps ??= new Sleeps(this.clock);
    this.#sleeps.add(call, until, () => this.record(["w", call.name], call, resolve));
    this.touch();
  }

  /** Ends the request-carried part of the flow once nothing works and nothing is asked any more. */
  handOff(options: TaskOptions): void {
    this.#handOff = options;
    this.touch();
  }

  /** An open question as the journal keeps it: with whether it was asked before the last arrival. */
  questionOf(ask: OpenAsk): OpenQuestion {
    const [key, kind, tries, pin, changes] = ask.question;
    return [key, kind, tries, pin, changes, this.#arrivals.overlaps(ask.call.startedAt) ? 1 : 0];
  }

  /** Ends this round with a state-only result once nothing works any more. */
  wantTicket(): void {
    this.#ticket = true;
    this.touch();
  }

  /** Does work that holds the round open, once everything that the flow knows has been handed out. */
  work<T>(call: Call, work: () => T | Promise<T>, done: (value: T) => void, failed: (error: unknown) => void): void {
    call.working = true;
    this.#working++;
    this.#arrivals.start(() => {
      if (this.closed || call.contestant?.lost) return;
      this.repeats = false;
      this.#perform(call, work, done, failed);
    });
    this.touch();
  }

  /** Opens a resource, which every run needs for itself, also while the journal is handed out. */
  acquire<T>(call: Call, work: () => T | Promise<T>, done: (value: T) => void, failed: (error: unknown) => void): void {
    call.working = true;
    this.#working++;
    this.#perform(call, work, done, failed);
  }

  #perform<T>(
    call: Call,
    work: () => T | Promise<T>,
    done: (value: T) => void,
    failed: (error: unknown) => void,
  ): void {
    const end = (): void => {
      if (call.working) this.#working--;
      call.working = false;
      this.touch();
    };
    const fail = (error: unknown): void => {
      failed(error);
      end();
    };
    const succeed = (value: T): void => {
      try {
        done(value);
      } catch (error) {
        failed(error);
      }
      end();
    };
    try {
      const value = inside.run({ run: this, work: call.name }, work);
      if (isThenable(value)) value.then(succeed, fail);
      else succeed(value);
    } catch (error) {
      fail(error);
    }
  }

  /** Something happened: hands out what has its turn, or looks whether the run is quiet after one more turn. */
  touch(): void {
    const event = this.#arrivals.mark();
    if (this.closed) return;
    const { step } = this.#arrivals;
    if (step === "microtasks") {
      if (this.#handing) return;
      this.#handing = true;
      afterMicrotasks(this.#hand);
    } else if (this.#turnAt < 0 && (step !== "nothing" || this.#mayEnd())) {
      this.#turnAt = event;
      nextTurn(this.#turn);
    }
  }

  /** The flow is another run's: nothing of this one counts any more. */
  lose(error: unknown): void {
    this.#close({ type: "threw", error });
  }

  releaseAtEnd(release: () => unknown): void {
    this.#releases ??= new Releases(this.definition, this.clock, this.#trace);
    this.#releases.add(release);
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
    if (this.#working > 0 || this.#arrivals.pending) return false;
    return this.#asks.length > 0 || this.#ticket || this.#handOff !== undefined || this.#sleeps?.nearest !== undefined;
  }

  readonly #hand = (): void => {
    this.#handing = false;
    if (this.closed || this.#ended || this.#arrivals.step !== "microtasks") return;
    this.#handOut();
  };

  #handOut(): void {
    if (this.#arrivals.handOut(() => this.touch())) this.repeats = false;
  }

  readonly #turn = (): void => {
    const quiet = this.#arrivals.isLast(this.#turnAt);
    this.#turnAt = -1;
    if (this.closed || this.#ended) return;
    const { step } = this.#arrivals;
    if (!quiet || step === "microtasks") this.touch();
    else if (step === "turn") this.#handOut();
    else if (step === "call") this.#waitForCall();
    else if (this.#mayEnd()) this.#suspend();
  };

  /** What is next in the journal was not called for. It may be yet; if not, the handler is another one than it was. */
  #waitForCall(): void {
    const pass = (): void => {
      this.#cancelPatience = undefined;
      if (this.closed) return;
      if (this.#arrivals.step === "call") this.#arrivals.pass();
      this.touch();
    };
    if (!this.#arrivals.mayBeCalled) pass();
    else this.#cancelPatience ??= this.clock.after(PATIENCE_MS, pass);
  }

  /** A round has one limit, whatever it waits for; a task has none: its worker's lease is what bounds it. */
  #limit(): void {
    if (this.closed || this.carrier !== undefined) return;
    const { roundTimeoutMs } = this.definition;
    this.#endsAt = this.clock.now() + roundTimeoutMs;
    this.#cancelDeadline = this.clock.after(roundTimeoutMs, () => this.#timeUp());
  }

  #timeUp(): void {
    if (this.closed) return;
    const reason = new VolleyError("timeout", `The round took longer than ${this.definition.roundTimeoutMs} ms.`);
    this.#controller?.abort(reason);
    const underWay = this.#working > 0 || this.#arrivals.pending;
    // Handed back only while a context call is under way: what else the handler does, a second run would do beside it.
    if (underWay && (this.#asks.length > 0 || this.recorded || this.#ticket || this.mayWait())) this.#handBack();
    else this.#close({ type: "threw", error: reason });
  }

  #suspend(): void {
    // What was asked beside a hand-off is asked first: a task would have to ask it again.
    if (this.#handOff !== undefined && this.#asks.length === 0) {
      this.#close({ type: "handed_off", options: this.#handOff });
    } else if (this.#asks.length > 0 || this.#ticket || this.#sleeps?.worthEnding(this.carrier !== undefined)) {
      this.#handBack();
    } else {
      const tooLong = this.#sleeps?.refusal(this.#endsAt, this.definition);
      if (tooLong !== undefined) this.#close({ type: "threw", error: tooLong });
    }
  }

  #handBack(): void {
    this.#close({ type: "suspended", asks: this.asks, wakeAt: this.#sleeps?.nearest?.until });
  }

  #returned(value: unknown): void {
    const forgotten = (): string | undefined => this.#handed.find(({ promise }) => !promise.awaited)?.name;
    if (forgotten() === undefined) {
      this.#end({ type: "returned", value });
      return;
    }
    // `await` looks at a promise a microtask after the call that made it: who lost a race may be just about to.
    this.#ended = true;
    afterMicrotasks(() => {
      const name = forgotten();
      if (name === undefined) this.#end({ type: "returned", value });
      else this.#end({ type: "threw", error: notAwaited(this.definition, name) });
    });
  }

  #end(outcome: RunOutcome): void {
    if (!this.closed) this.#ended = true;
    this.#close(outcome);
  }

  #close(outcome: RunOutcome): void {
    if (this.closed) return;
    this.closed = true;
    this.#cancelDeadline?.();
    this.#cancelPatience?.();
    this.#sleeps?.end();
    if (this.#releases === undefined) this.#finish(outcome);
    else void this.#releases.run().then(() => this.#finish(outcome));
  }
}
