import { checkOptions, type OptionNames, VolleyError } from "../../protocol/index.ts";
import type { OnceOptions } from "../api/context.ts";
import { fromFailure } from "../journal/failure.ts";
import { toJsonCopy } from "../journal/json-value.ts";
import { type ContextPromise, defer } from "../run/context-promise.ts";
import type { Flow } from "../run/flow.ts";
import type { Run } from "../run/run.ts";
import { type Effect, happen, mayWait, tellOutcome } from "./effect.ts";
import { shed } from "./shedding.ts";
import { type Begin, whileHeld } from "./while-held.ts";
import { measure } from "./work.ts";

/**
 * Does what must happen once.
 *
 * Without a business key the flow's row is what is unique, and a flow whose state the client does not hold yet cannot be
 * told from a new one: it gets a ticket first.
 */
export function once<T>(
  run: Run,
  flow: Flow,
  name: string,
  options: OnceOptions<T>,
  effect: Effect<T>,
): ContextPromise<T> {
  const call = run.begin("o", name);
  if (call === undefined) return run.refuse(name);
  checkOnce(flow, name, options);
  const ends = defer<T>();
  const found = run.journal.find("o", name);
  if (found !== undefined && !flow.isStale(found.entry)) {
    const { entry } = found;
    tellOutcome(flow, name, "replayed");
    run.replay(found, call, () =>
      entry[0] === "f" ? ends.reject(fromFailure(entry[3])) : ends.resolve(entry[2] as T),
    );
  } else if (options.key === undefined && !flow.presented) run.wantTicket();
  else if (!shed(run, flow)) {
    const done = (outcome: { readonly value: T } | undefined): void => {
      if (outcome === undefined) {
        run.wantTicket();
        return;
      }
      const copy = toJsonCopy(name, outcome.value);
      measure(run, flow, name, copy.text);
      flow.waits = 0;
      run.record(copy.value === undefined ? ["o", name] : ["o", name, copy.value], call, () =>
        ends.resolve(copy.value as T),
      );
    };
    const failed = (error: unknown): void => run.recordFailure("o", error, call, ends.reject);
    run.mayWait = () => mayWait(flow);
    const begin: Begin = (work, tooLate) => whileHeld(run, work, tooLate);
    run.works.add(call, { begin: () => happen(flow, name, options, effect, begin), done, failed });
  }
  return run.hand(name, ends.promise);
}

const OPTIONS: OptionNames<OnceOptions<unknown>> = { key: true, keepFor: true, recover: true };

function checkOnce(flow: Flow, name: string, options: OnceOptions<unknown>): void {
  checkOptions("ctx.once", options, OPTIONS);
  flow.services.requireShared?.();
  if (flow.definition.answersWithoutState === "accept") {
    throw new VolleyError(
      "context_misused",
      `${flow.definition.kind} "${flow.definition.name}" accepts answers without state, so "${name}" cannot be bound to ` +
        'what was answered. Remove `answersWithoutState: "accept"`.',
    );
  }
  // Said by its absence, for a key that was forgotten must not make two effects of one.
  const { key } = options as { readonly key?: unknown };
  if (("key" in options || options.keepFor !== undefined) && (typeof key !== "string" || key === "")) {
    throw new VolleyError(
      "invalid_options",
      `once("${name}", { key, keepFor }): \`key\` must be a string that is not empty, your own name for what must happen ` +
        "once. Leave out both where the flow is what is unique.",
    );
  }
  if (key !== undefined && !(Number.isInteger(options.keepFor) && (options.keepFor ?? 0) > 0)) {
    throw new VolleyError(
      "invalid_options",
      `once("${name}", { key }) needs \`keepFor\`: for how many milliseconds a second try must be recognised.`,
    );
  }
}
