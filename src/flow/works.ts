import type { Arrivals } from "./arrivals.ts";
import type { Call, Contestant } from "./call.ts";
import { isThenable } from "./context-promise.ts";
import { inside } from "./inside.ts";

/** The run that work is done for. */
export interface Working {
  readonly closed: boolean;
  touch(): void;
  /** What is done from here on was not done before. */
  fresh(): void;
}

/** Work and what is to become of it; what `done` throws is a failure too. */
export interface Work<T> {
  readonly begin: () => T | Promise<T>;
  readonly done: (value: T) => void;
  readonly failed: (error: unknown) => void;
}

/** The work that a run has under way: steps, effects, and what it acquires. It holds the round open. */
export class Works {
  readonly #run: Working;
  readonly #arrivals: Arrivals;
  #count = 0;

  constructor(run: Working, arrivals: Arrivals) {
    this.#run = run;
    this.#arrivals = arrivals;
  }

  get underWay(): boolean {
    return this.#count > 0;
  }

  /** Does work once everything that the flow knows has been handed out: by then its side of a race may have lost. */
  add<T>(call: Call, work: Work<T>): void {
    this.#hold(call);
    this.#arrivals.start(() => {
      if (this.#run.closed || call.contestant?.lost) return;
      this.#run.fresh();
      this.#perform(call, work);
    });
    this.#run.touch();
  }

  /** Does at once what every run needs for itself, such as opening a resource. */
  addNow<T>(call: Call, work: Work<T>): void {
    this.#hold(call);
    this.#perform(call, work);
  }

  /** Lets no work of these sides of a race hold the round. */
  withdraw(contestants: readonly Contestant[]): void {
    for (const { calls } of contestants) for (const call of calls) this.#let(call);
  }

  #hold(call: Call): void {
    call.working = true;
    this.#count++;
  }

  #let(call: Call): void {
    if (call.working) this.#count--;
    call.working = false;
  }

  #perform<T>(call: Call, { begin, done, failed }: Work<T>): void {
    const fail = (error: unknown): void => {
      failed(error);
      this.#let(call);
      this.#run.touch();
    };
    const succeed = (value: T): void => {
      try {
        done(value);
      } catch (error) {
        fail(error);
        return;
      }
      this.#let(call);
      this.#run.touch();
    };
    try {
      const value = inside.run({ run: this.#run, work: call.name }, begin);
      if (isThenable(value)) value.then(succeed, fail);
      else succeed(value);
    } catch (error) {
      fail(error);
    }
  }
}
