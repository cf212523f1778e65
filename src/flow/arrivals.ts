import type { Entry, Found, Journal } from "./journal.ts";

/**
 * The order of a run: hands the journal out in the groups in which it arrived, a quiet turn apart, and what happens now
 * after all of that, so that a race in the handler has the same winner again.
 */
export class Arrivals {
  readonly #journal: Journal;
  #events = 0;
  #lastArrival = -1;
  #openGroups = 1;
  /** Calls whose entry belongs to a group that is not open yet. */
  #waiting: { readonly group: number; readonly hand: () => void }[] = [];
  /** What came to be while such calls wait. */
  readonly #held: (() => void)[] = [];

  constructor(journal: Journal) {
    this.#journal = journal;
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

  get pending(): boolean {
    return this.#waiting.length > 0 || this.#held.length > 0;
  }

  /** Hands out a journal entry: now, or when its group opens. */
  replay(found: Found, hand: () => void): void {
    const arrive = (): void => {
      this.#lastArrival = this.mark();
      hand();
    };
    if (found.group < this.#openGroups) arrive();
    else this.#waiting.push({ group: found.group, hand: arrive });
  }

  /** Runs a task that records something new: now, or after everything that arrived in earlier rounds. */
  later(task: () => void): void {
    if (this.#waiting.length === 0) task();
    else this.#held.push(task);
  }

  /** Adds what has just come to be. */
  add(entry: Entry, startedAt: number): void {
    const found = this.#journal.add(entry, this.overlaps(startedAt));
    this.#openGroups = Math.max(this.#openGroups, found.group + 1);
    this.#lastArrival = this.mark();
  }

  /** A quiet turn has passed: opens the next group that is waited for, or lets the next new thing happen. */
  next(): void {
    if (this.#waiting.length === 0) {
      this.#held.shift()?.();
      return;
    }
    const group = Math.min(...this.#waiting.map((call) => call.group));
    this.#openGroups = group + 1;
    const opened = this.#waiting.filter((call) => call.group <= group);
    this.#waiting = this.#waiting.filter((call) => call.group > group);
    for (const { hand } of opened) hand();
  }
}
