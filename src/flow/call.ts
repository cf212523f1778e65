/** One call on the context. */
export interface Call {
  readonly name: string;
  /** When it began, in the run's own count of events. */
  readonly startedAt: number;
  /** The side of a race that it was made on. */
  readonly contestant: Contestant | undefined;
  /** Its work holds the round open. */
  working: boolean;
}

/** One side of a race, and what it has called so far. */
export class Contestant {
  readonly calls: Call[] = [];
  readonly #parent: Contestant | undefined;
  #lost = false;

  constructor(parent: Contestant | undefined) {
    this.#parent = parent;
  }

  get lost(): boolean {
    return this.#lost || (this.#parent?.lost ?? false);
  }

  /** From here on nothing that it calls begins, and nothing that it has called comes to it. */
  lose(): void {
    this.#lost = true;
  }

  add(call: Call): void {
    this.calls.push(call);
    this.#parent?.add(call);
  }
}
