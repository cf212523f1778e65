import { VolleyError } from "../protocol/index.ts";
import { canonicalJson, digest } from "../state/index.ts";
import type { WorkScope } from "./context.ts";
import { type ContextPromise, defer } from "./context-promise.ts";
import { fromFailure } from "./failure.ts";
import type { Flow } from "./flow.ts";
import { toJsonCopy } from "./json-value.ts";
import { restsOn } from "./rests-on.ts";
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
  if (call === undefined) return run.refuse(name);
  const ends = defer<T>();
  const found = run.journal.find("s", name);
  if (found !== undefined) {
    const { entry } = found;
    const failed = entry[0] === "f";
    tell(flow, { type: "step", name, replayed: true, failed, durationMs: 0 });
    run.replay(found, call, () => (failed ? ends.reject(fromFailure(entry[3])) : ends.resolve(entry[2] as T)));
  } else if (!shed(run, flow)) {
    const scope = new StepScope(run, flow, name);
    const { clock } = flow.services;
    let startedAt = 0;
    const ended = (failed: boolean): void =>
      tell(flow, { type: "step", name, replayed: false, failed, durationMs: clock.now() - startedAt });
    const begin = (): T | Promise<T> => {
      startedAt = clock.now();
      return whileHeld(run, () => work(scope));
    };
    const done = (value: T): void => {
      const copy = toJsonCopy(name, value);
      measure(run, flow, name, copy.text);
      ended(false);
      run.record(copy.value === undefined ? ["s", name] : ["s", name, copy.value], call, () =>
        ends.resolve(copy.value as T),
      );
    };
    const failed = (error: unknown): void => {
      ended(true);
      run.recordFailure("s", error, call, ends.reject);
    };
    run.works.add(call, { begin, done, failed });
  }
  return run.hand(name, ends.promise);
}

/** Waits until a moment that is fixed when the sleep is first reached. */
export function sleep(run: Run, flow: Flow, name: string, ms: number): ContextPromise<void> {
  const call = run.begin("s", name);
  if (call === undefined) return run.refuse(name);
  const ends = defer<void>();
  const found = run.journal.find("w", name);
  if (found !== undefined) run.replay(found, call, ends.resolve);
  else run.sleep(call, run.journal.sleeps.get(name) ?? flow.services.clock.now() + ms, ends.resolve);
  return run.hand(name, ends.promise);
}

/** Acquires what lives no longer than the round. */
export function use<T>(
  run: Run,
  flow: Flow,
  acquire: () => T | Promise<T>,
  release: (resource: T) => void | Promise<void>,
): ContextPromise<T> {
  const call = run.begin("u", "use");
  if (call === undefined) return run.refuse("use");
  const ends = defer<T>();
  const acquired = (resource: T): void => {
    if (!run.closed) {
      run.releaseAtEnd(() => release(resource));
      run.handAside(call, () => ends.resolve(resource));
      return;
    }
    // Acquired too late for this round: nobody will use it.
    const fault = (error: unknown): void =>
      flow.services.trace?.({ type: "fault", target: flow.definition.name, error });
    void Promise.resolve(resource).then(release).catch(fault);
  };
  const failed = (error: unknown): void => run.handAside(call, () => ends.reject(error));
  run.works.addNow(call, { begin: () => whileHeld(run, acquire), done: acquired, failed });
  return run.hand("use", ends.promise);
}

/** Refuses a value that would make the next state too large, where the author can see which; a task's store has its own bound. */
export function measure(run: Run, flow: Flow, name: string, text: string): void {
  if (run.carrier !== undefined) return;
  const limit = flow.definition.maxStateBytes;
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
    return digest(canonicalJson([this.#flow.id, this.#name, restsOn(this.#flow)]));
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }
}
