import { VolleyError } from "../protocol/index.ts";
import type { Call } from "./call.ts";
import type { Clock, FlowDefinition } from "./types.ts";

/** Sleeps shorter than this are not worth ending a task's run for. */
const WORTH_ENDING_MS = 1_000;
/** The longest that a timer of the platform waits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Sleeper {
  readonly call: Call;
  readonly until: number;
  cancel: () => void;
}

/** The sleeps of one run. They hold no round that has something to ask, and end while steps run. */
export class Sleeps {
  readonly #clock: Clock;
  readonly #sleepers = new Set<Sleeper>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(call: Call, until: number, woken: () => void): void {
    const wait = (): (() => void) => {
      const left = Math.max(0, until - this.#clock.now());
      return this.#clock.after(Math.min(left, LONGEST_TIMER_MS), () => {
        if (this.#clock.now() < until) {
          sleeper.cancel = wait();
          return;
        }
        this.#sleepers.delete(sleeper);
        woken();
      });
    };
    const sleeper: Sleeper = { call, until, cancel: () => undefined };
    this.#sleepers.add(sleeper);
    sleeper.cancel = wait();
  }

  get nearest(): { readonly call: Call; readonly until: number } | undefined {
    let nearest: Sleeper | undefined;
    for (const sleeper of this.#sleepers) if (nearest === undefined || sleeper.until < nearest.until) nearest = sleeper;
    return nearest;
  }

  /** Whether a run that waits for nothing else ends meanwhile; one that its client waits for stays. */
  worthEnding(inTask: boolean): boolean {
    const { nearest } = this;
    return inTask && nearest !== undefined && nearest.until - this.#clock.now() >= WORTH_ENDING_MS;
  }

  /** Why a round that waits for nothing else must not wait, if so. */
  refusal(endsAt: number, { roundTimeoutMs }: FlowDefinition): VolleyError | undefined {
    const { nearest } = this;
    if (nearest === undefined || nearest.until <= endsAt) return undefined;
    return new VolleyError(
      "context_misused",
      `The sleep "${nearest.call.name}" is longer than a round may take (roundTimeoutMs: ${roundTimeoutMs}). ` +
        "Call `await ctx.toTask()` before it: a task sleeps as long as you like, and nothing runs meanwhile.",
    );
  }

  /** Ends the sleeps of those that have lost a race, and says which. */
  withdraw(): string[] {
    const lost = [...this.#sleepers].filter(({ call }) => call.contestant?.lost);
    for (const sleeper of lost) this.#remove(sleeper);
    return lost.map(({ call }) => call.name);
  }

  end(): void {
    for (const sleeper of this.#sleepers) this.#remove(sleeper);
  }

  #remove(sleeper: Sleeper): void {
    sleeper.cancel();
    this.#sleepers.delete(sleeper);
  }
}
