import { VolleyError } from "../protocol/index.ts";
import { Arrivals, type Hand } from "./arrivals.ts";
import type { Call, Contestant } from "./call.ts";
import { Calls, type CallType } from "./calls.ts";
import { type ContextPromise, isThenable, never, notAwaited } from "./context-promise.ts";
import { asReplayed, toFailure } from "./failure.ts";
import type { Flow } from "./flow.ts";
import type { Entry, Found, Journal, OpenQuestion } from "./journal.ts";
import { Limit } from "./limit.ts";
import type { OpenAsk, RunOutcome } from "./outcome.ts";
import { Pace, type Paced } from "./pace.ts";
import { Releases } from "./releases.ts";
import { Sleeps } from "./sleeps.ts";
import { afterMicrotasks } from "./turns.ts";
import type { Carrier, Clock, FlowDefinition, RoundRequest, TaskOptions, Trace } from "./types.ts";
import { type Working, Works } from "./works.ts";

/**
 * One run of a handler: hands out the journal, collects what is asked, and notices when nothing more can happen.
 *
 * Suspension is out of band: an open ask's promise never settles, nothing is thrown, and once the run is closed nothing
 * that it handed out settles any more, so that the handler's frames are garbage. Only context calls hold a round open; raw
 * I/O beside an ask does not.
 */
export class Run implements Paced, Working {
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
  /** How much JSON was recorded. */
  recordedBytes = 0;
  /** The handler does again what it did in an earlier round of this flow. */
  repeats: boolean;
  /** Whether the round may end with a ticket although nothing was recorded: an effect is under way. */
  mayWait: () => boolean = () => false;
  closed = false;
  /** What is asked and not answered. */
  asks: readonly OpenAsk[] = [];
  readonly works: Works;

  readonly #trace: Trace | undefined;
  readonly #arrivals: Arrivals;
  readonly #pace: Pace;
  readonly #calls: Calls;
  readonly #limit: Limit;
  #sleeps: Sleeps | undefined;
  #releases: Releases | undefined;
  #finish!: (outcome: RunOutcome) => void;
  #ticket = false;
  #handOff: TaskOptions | undefined;
  /** The handler has ended, by itself. */
  #ended = false;

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
    this.works = new Works(this, this.#arrivals);
    this.#limit = new Limit(request.exchange);
    this.#calls = new Calls(this, definition, this.#arrivals);
    this.#pace = new Pace(this, this.#arrivals);
  }

  /** Runs the handler until it returns, throws, or can only go on with answers from outside. */
  play(handler: () => unknown): Promise<RunOutcome> {
    const { carrier, clock, definition } = this;
    return new Promise((resolve) => {
      this.#finish = resolve;
      try {
        const returned = handler();
        if (isThenable(returned)) {
          // A round has one limit, whatever it waits for; a task has none: its worker's lease is what bounds it.
          if (!this.closed && carrier === undefined)
            this.#limit.begin(clock, definition.roundTimeoutMs, () => this.#timeUp());
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
  begin(type: CallType, name: string): Call | undefined {
    if (!this.closed) return this.#calls.begin(type, name);
    this.#trace?.({ type: "late_call", target: this.definition.name, name });
    return undefined;
  }

  /** What a call gets that begins nothing: it never settles, or says that its handler has ended long ago. */
  refuse<T>(name: string): ContextPromise<T> {
    return this.closed && this.#ended ? this.#calls.tooLate(name) : never();
  }

  /** Remembers what was handed out, so that a call nobody awaited can be named. */
  hand<T>(name: string, promise: ContextPromise<T>): ContextPromise<T> {
    return this.#calls.hand(name, promise);
  }

  /** Whether this run has called for it by this name, whatever became of it. */
  hasUsed(type: CallType, name: string): boolean {
    return this.#calls.hasUsed(type, name);
  }

  mark(): number {
    return this.#arrivals.mark();
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
      waiter.ready = this.carrier === undefined;
      this.#save(() => {
        waiter.ready = true;
        this.touch();
      });
    }
    this.touch();
  }

  #save(saved?: () => void): void {
    this.carrier?.save().then(saved, (error: unknown) => this.lose(error));
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
    this.asks = [...this.asks, ask];
    this.carrier?.asksChanged();
    this.touch();
  }

  /** Takes an answer that comes while the run goes on; false when nobody waits for it. */
  take(key: string, response: unknown): boolean {
    const ask = this.closed ? undefined : this.asks.find((open) => open.key === key);
    if (ask === undefined) return false;
    this.asks = this.asks.filter((open) => open !== ask);
    ask.answer(response);
    return true;
  }

  /** Takes back what these sides of a race have opened, and lets no work of theirs hold the round. */
  withdraw(contestants: readonly Contestant[]): void {
    this.works.withdraw(contestants);
    this.#arrivals.withdraw();
    for (const name of this.#sleeps?.withdraw() ?? []) this.journal.sleeps.delete(name);
    const before = this.asks.length;
    this.asks = this.asks.filter(({ call }) => !call.contestant?.lost);
    if (this.asks.length < before) this.carrier?.asksChanged();
    this.touch();
  }

  /** Whether what the handler tells the client is told already, or comes too late. */
  get silent(): boolean {
    // What a task tells is its status, which a replay passes through at once.
    return this.closed || (this.repeats && this.carrier === undefined);
  }

  /** Waits until that time, in this run or a later one. */
  sleep(call: Call, until: number, resolve: () => void): void {
    if (!this.journal.sleeps.has(call.name)) {
      this.journal.sleeps.set(call.name, until);
      this.#save();
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
    return [key, kind, tries, pin, changes, this.#arrivals.overlaps(ask.openedAt) ? 1 : 0];
  }

  /** Ends this round with a state-only result once nothing works any more. */
  wantTicket(): void {
    this.#ticket = true;
    this.touch();
  }

  /** Something happened. */
  touch(): void {
    this.#pace.touch();
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
    return this.#limit.signal;
  }

  get over(): boolean {
    return this.closed || this.#ended;
  }

  mayEnd(): boolean {
    if (this.works.underWay || this.#arrivals.pending) return false;
    return this.asks.length > 0 || this.#ticket || this.#handOff !== undefined || this.#sleeps?.nearest !== undefined;
  }

  fresh(): void {
    this.repeats = false;
  }

  quiet(): void {
    // What was asked beside a hand-off is asked first: a task would have to ask it again.
    if (this.#handOff !== undefined && this.asks.length === 0) {
      this.#close({ type: "handed_off", options: this.#handOff });
    } else if (this.asks.length > 0 || this.#ticket || this.#sleeps?.worthEnding(this.carrier !== undefined)) {
      this.#handBack();
    } else {
      const tooLong = this.#sleeps?.refusal(this.#limit.endsAt, this.definition);
      if (tooLong !== undefined) this.#close({ type: "threw", error: tooLong });
    }
  }

  #timeUp(): void {
    if (this.closed) return;
    const reason = new VolleyError("timeout", `The round took longer than ${this.definition.roundTimeoutMs} ms.`);
    this.#limit.abort(reason);
    const underWay = this.works.underWay || this.#arrivals.pending;
    // Handed back only while a context call is under way: what else the handler does, a second run would do beside it.
    if (underWay && (this.asks.length > 0 || this.recorded || this.#ticket || this.mayWait())) this.#handBack();
    else this.#close({ type: "threw", error: reason });
  }

  #handBack(): void {
    this.#close({ type: "suspended", asks: this.asks, wakeAt: this.#sleeps?.nearest?.until });
  }

  #returned(value: unknown): void {
    if (this.#calls.forgotten === undefined) {
      this.#end({ type: "returned", value });
      return;
    }
    // `await` looks at a promise a microtask after the call that made it: who lost a race may be just about to.
    this.#ended = true;
    afterMicrotasks(() => {
      const name = this.#calls.forgotten;
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
    this.#limit.end();
    this.#pace.end();
    this.#sleeps?.end();
    if (this.#releases === undefined) this.#finish(outcome);
    else void this.#releases.run().then(() => this.#finish(outcome));
  }
}
