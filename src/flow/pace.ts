import type { Arrivals } from "./arrivals.ts";
import { afterMicrotasks, nextTurn, waitIdle } from "./turns.ts";

/** How long a replay waits for a call that came earlier than those that wait behind it: raw I/O may lie before it. */
const PATIENCE_MS = 500;

/** The run whose pace it is. */
export interface Paced {
  /** Nothing is handed out any more. */
  readonly over: boolean;
  /** Whether the run ends when it is quiet. */
  mayEnd(): boolean;
  /** It may end, and nothing has happened for a turn of the event loop. */
  quiet(): void;
  /** Something was handed out that came in this round. */
  fresh(): void;
}

/** Hands arrivals out one by one, each when the handler has come to rest after the one before, and sees when nothing is left to do. */
export class Pace {
  readonly #run: Paced;
  readonly #arrivals: Arrivals;
  #turnAt = -1;
  #handing = false;
  #cancelPatience: (() => void) | undefined;

  constructor(run: Paced, arrivals: Arrivals) {
    this.#run = run;
    this.#arrivals = arrivals;
  }

  /** Something happened: hands out what has its turn, or looks whether the run is quiet after one more turn. */
  touch(): void {
    const event = this.#arrivals.mark();
    if (this.#run.over) return;
    const { step } = this.#arrivals;
    if (step === "microtasks") {
      if (this.#handing) return;
      this.#handing = true;
      afterMicrotasks(this.#rested);
    } else if (this.#turnAt < 0 && (step !== "nothing" || this.#run.mayEnd())) {
      this.#turnAt = event;
      nextTurn(this.#turned);
    }
  }

  end(): void {
    this.#cancelPatience?.();
  }

  readonly #rested = (): void => {
    this.#handing = false;
    if (!this.#run.over && this.#arrivals.step === "microtasks") this.#handOut();
  };

  readonly #turned = (): void => {
    const quiet = this.#arrivals.isLast(this.#turnAt);
    this.#turnAt = -1;
    if (this.#run.over) return;
    const { step } = this.#arrivals;
    if (!quiet || step === "microtasks") this.touch();
    else if (step === "turn") this.#handOut();
    else if (step === "call") this.#waitForCall();
    else if (this.#run.mayEnd()) this.#run.quiet();
  };

  #handOut(): void {
    if (this.#arrivals.handOut(() => this.touch())) this.#run.fresh();
  }

  /** What is next in the journal was not called for. It may be yet; if not, the handler is another one than it was. */
  #waitForCall(): void {
    const pass = (): void => {
      this.#cancelPatience = undefined;
      if (this.#run.over) return;
      if (this.#arrivals.step === "call") this.#arrivals.pass();
      this.touch();
    };
    if (!this.#arrivals.mayBeCalled) pass();
    else this.#cancelPatience ??= waitIdle(PATIENCE_MS, pass);
  }
}
