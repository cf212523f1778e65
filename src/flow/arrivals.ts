import type { Call } from "./call.ts";
import type { Entry, Journal } from "./journal.ts";

/** Hands something to the handler; what takes time holds back whatever comes after it. */
export type Hand = () => void | Promise<void>;

/** What may be done next: after microtasks, after a quiet turn, or nothing but wait. */
export type Step = "microtasks" | "turn" | "call" | "nothing";

interface Waiter {
  readonly call: Call;
  readonly hand: Hand;
  /** False until whoever keeps the journal has it. */
  ready: boolean;
}

/**
 * The order of a run. Whatever comes to the handler, out of the journal or just now, is handed out one at a time in the
 * order of the journal, and the next only when the handler has come to rest. So a replay takes the same way, however many
 * microtasks lie between an arrival and a race that it decides.
 */
export class Arrivals {
  readonly #journal: Journal;
  readonly #sameHandler: boolean;
  /** Everything before it was handed out or passed over. */
  #next = 0;
  /** Entries of this run's journal as it began: until they are handed out, this is a replay. */
  readonly #old: number;
  #events = 0;
  #lastArrival = -1;
  readonly #waiting = new Map<number, Waiter>();
  /** What has no place in the order: resources, and entries that were passed over before they were called for. */
  readonly #aside: { readonly call: Call; readonly hand: Hand }[] = [];
  /** Work that begins when everything old is handed out: what the journal still holds may make it needless. */
  readonly #starts: (() => void)[] = [];
  #busy = false;

  /** @param sameHandler the journal is of this version of the handler */
  constructor(journal: Journal, sameHandler: boolean) {
    this.#journal = journal;
    this.#sameHandler = sameHandler;
    this.#old = journal.entries.length;
  }

  /** Counts an event and says which it was. */
  mark(): number {
    return this.#events++;
  }

  /** Whether nothing was counted after this event. */
  isLast(event: number): boolean {
    return event === this.#events - 1;
  }

  /** Whether something began before the last arrival. */
  overlaps(startedAt: number): boolean {
    return startedAt < this.#lastArrival;
  }

  /** Whether something waits to be handed out or begun. */
  get pending(): boolean {
    return this.#busy || this.#waiting.size > 0 || this.#aside.length > 0 || this.#starts.length > 0;
  }

  /** The handler has called for an entry of the journal. */
  expect(index: number, call: Call, hand: Hand): void {
    if (index < this.#next) this.#aside.push({ call, hand });
    else this.#waiting.set(index, { call, hand, ready: true });
  }

  /** Adds what has just come to the end of the order; `saved` resolves when it may be handed out. */
  add(entry: Entry, call: Call, hand: Hand): { ready: boolean } {
    this.#skip();
    const overlaps = this.overlaps(call.startedAt) || this.#next < this.#journal.entries.length;
    const waiter = { call, hand, ready: true };
    this.#waiting.set(this.#journal.add(entry, overlaps), waiter);
    return waiter;
  }

  /** Hands something out as soon as the handler rests, whatever its order. */
  addAside(call: Call, hand: Hand): void {
    this.#aside.push({ call, hand });
  }

  /** Takes back what waits for those that have lost a race. */
  withdraw(): void {
    for (const [index, { call }] of this.#waiting) {
      if (!call.contestant?.lost) continue;
      this.#waiting.delete(index);
      this.#journal.remove(index);
    }
  }

  /** Begins work now, or once the journal is handed out. */
  start(begin: () => void): void {
    this.#skip();
    if (this.#next < this.#old) this.#starts.push(begin);
    else begin();
  }

  get step(): Step {
    if (this.#busy) return "nothing";
    if (this.#aside.length > 0) return "microtasks";
    this.#skip();
    if (this.#starts.length > 0 && this.#next >= this.#old) return "microtasks";
    const waiter = this.#waiting.get(this.#next);
    if (waiter === undefined) return this.#waiting.size > 0 || this.#starts.length > 0 ? "call" : "nothing";
    if (!waiter.ready) return "nothing";
    return this.#journal.overlaps(this.#next) ? "turn" : "microtasks";
  }

  /**
   * Whether the entry that is next may still be called for: what waits behind it was begun before it came. Else the
   * handler is another one than it was.
   */
  get mayBeCalled(): boolean {
    if (!this.#sameHandler) return false;
    for (let index = this.#next + 1; index < this.#journal.entries.length; index++) {
      if (this.#waiting.has(index)) return this.#journal.overlaps(index);
    }
    return true;
  }

  /** Passes over entries that nobody has called for. */
  pass(): void {
    const { length } = this.#journal.entries;
    while (this.#next < length && !this.#waiting.has(this.#next)) this.#next++;
  }

  /** Hands out what is next; true when it came in this round. */
  handOut(done: () => void): boolean {
    const aside = this.#aside.shift();
    if (aside !== undefined) {
      if (aside.call.contestant?.lost) done();
      else this.#hand(aside.hand, done);
      return false;
    }
    if (this.#starts.length > 0 && this.#next >= this.#old) {
      for (const begin of this.#starts.splice(0)) begin();
      done();
      return true;
    }
    const index = this.#next++;
    const waiter = this.#waiting.get(index);
    this.#waiting.delete(index);
    if (waiter === undefined) throw new Error("Nothing waits to be handed out.");
    this.#lastArrival = this.mark();
    this.#hand(waiter.hand, done);
    return index >= this.#journal.known;
  }

  #hand(hand: Hand, done: () => void): void {
    const handing = hand();
    if (handing === undefined) {
      done();
      return;
    }
    this.#busy = true;
    const rested = (): void => {
      this.#busy = false;
      done();
    };
    handing.then(rested, rested);
  }

  /** What was taken back is nobody's. */
  #skip(): void {
    const { entries } = this.#journal;
    while (this.#next < entries.length && entries[this.#next] === undefined && !this.#waiting.has(this.#next))
      this.#next++;
  }
}
