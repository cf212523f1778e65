import { VolleyError } from "../protocol/index.ts";
import { digest } from "../state/index.ts";
import type { WorkScope } from "./context.ts";
import { type ContextPromise, defer, never } from "./context-promise.ts";
import type { Flow } from "./flow.ts";
import { toJsonCopy } from "./json-value.ts";
import type { Run } from "./run.ts";
import { shed } from "./shedding.ts";
import { tell } from "./tracing.ts";
import { whileHeld } from "./while-held.ts";

/** Does a step's work, or hands out its value from the journal. */
export function step<T>(
  run: Run,
  flow: Flow,
  name: string,
  work: (scope: WorkScope) => T | Promise<T>,
): ContextPromise<T> {
  const call = run.begin("s", name);
  if (call === undefined) return never();
  const ends = defer<T>();
  const found = run.journal.find("s", name);
  if (found !== undefined) {
    tell(flow, { type: "step", name, replayed: true, failed: false, durationMs: 0 });
    run.replay(found, () => ends.resolve(found.entry[2] as T));
  } else if (!shed(run, flow)) {
    const scope = new StepScope(run, flow, name);
    const { clock } = flow.services;
    const startedAt = clock.now();
    const ended = (failed: boolean): void =>
      tell(flow, { type: "step", name, replayed: false, failed, durationMs: clock.now() - startedAt });
    const done = (value: T): Promise<void> | undefined => {
      ended(false);
      const copy = toJsonCopy(name, value);
      measure(run, flow, name, copy.text);
      return run.record(copy.value === undefined ? ["s", name] : ["s", name, copy.value], call, () =>
        ends.resolve(copy.value as T),
      );
    };
    const failed = (error: unknown): void => {
      ended(true);
      ends.reject(error);
    };
    run.work(name, () => whileHeld(run, () => work(scope)), done, failed);
  }
  return run.hand(name, ends.promise);
}

/** What one run of a task may record: nobody carries it, but each entry is written with the whole journal. */
const MOST_TASK_BYTES = 4 * 1024 * 1024;

/** Timers shorter than this are not worth ending a run for. */
const WORTH_WAITING_MS = 1_000;

/** Waits until a moment that is fixed when the step is first reached. */
export function sleep(run: Run, flow: Flow, name: string, ms: number): ContextPromise<void> {
  const call = run.begin("s", name);
  if (call === undefined) return never();
  const { clock } = flow.services;
  const ends = defer<void>();
  const wait = (until: number): void => {
    const left = until - clock.now();
    if (left <= 0) ends.resolve();
    else if (run.carrier !== undefined && left >= WORTH_WAITING_MS) run.wake(until);
    else {
      const time = (): Promise<void> => new Promise((resolve) => void clock.after(left, resolve));
      run.work(name, time, ends.resolve, ends.reject);
    }
  };
  const found = run.journal.find("s", name);
  if (found !== undefined) run.replay(found, () => wait(found.entry[2] as number));
  else {
    const until = clock.now() + ms;
    run.work(
      name,
      () => until,
      () => run.record(["s", name, until], call, () => wait(until)),
      ends.reject,
    );
  }
  return run.hand(name, ends.promise);
}

/** Acquires what lives no longer than the round. */
export function use<T>(
  run: Run,
  flow: Flow,
  acquire: () => T | Promise<T>,
  release: (resource: T) => void | Promise<void>,
): ContextPromise<T> {
  if (run.begin("u", "use") === undefined) return never();
  const ends = defer<T>();
  const releaseSafely = async (resource: T): Promise<void> => {
    try {
      await release(resource);
    } catch (error) {
      flow.services.trace?.({ type: "fault", target: flow.definition.name, error });
    }
  };
  const acquired = (resource: T): void => {
    // Acquired too late for this round: nobody will use it.
    if (run.closed) void releaseSafely(resource);
    else {
      run.releaseAtEnd(() => releaseSafely(resource));
      ends.resolve(resource);
    }
  };
  run.work("use", acquire, acquired, ends.reject);
  return run.hand("use", ends.promise);
}

/** Refuses a value that would make the next state too large, where the author can see which. */
export function measure(run: Run, flow: Flow, name: string, text: string): void {
  const limit = run.carrier === undefined ? flow.definition.maxStateBytes : MOST_TASK_BYTES;
  run.recordedBytes += text.length;
  if (run.recordedBytes * (4 / 3) <= limit) return;
  throw new VolleyError(
    "state_too_large",
    `"${name}" makes the state larger than ${limit} bytes. Return a reference instead of the data, ` +
      "or raise `maxStateBytes` (every byte travels with every round).",
  );
}

class StepScope implements WorkScope {
  readonly #run: Run;
  readonly #flow: Flow;
  readonly #name: string;

  constructor(run: Run, flow: Flow, name: string) {
    this.#run = run;
    this.#flow = flow;
    this.#name = name;
  }

  // Other answers are other work: a corrected answer must not meet what was done for the old one. The flow id is a
  // secret of 128 bits and, unlike the keys, the same in every round.
  get idempotencyKey(): string {
    const answers = this.#flow.journal.answers.map((entry) => [entry[1], entry[3]]);
    return digest(JSON.stringify([this.#flow.id, this.#name, answers]));
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }
}
