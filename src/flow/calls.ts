import { VolleyError } from "../protocol/index.ts";
import type { Arrivals } from "./arrivals.ts";
import type { Call } from "./call.ts";
import { type ContextPromise, rejected } from "./context-promise.ts";
import { inside } from "./inside.ts";
import { checkName } from "./names.ts";
import type { FlowDefinition } from "./types.ts";

/** Asks, steps and sleeps, effects, and calls without a name of the author's. */
export type CallType = "a" | "s" | "o" | "u";

/** The context calls of one run: which names are used, and which nobody has awaited. */
export class Calls {
  readonly #run: object;
  readonly #definition: FlowDefinition;
  readonly #arrivals: Arrivals;
  #used: Set<string> | undefined;
  readonly #handed: { readonly name: string; readonly promise: ContextPromise<unknown> }[] = [];

  constructor(run: object, definition: FlowDefinition, arrivals: Arrivals) {
    this.#run = run;
    this.#arrivals = arrivals;
    this.#definition = definition;
  }

  /** Begins a call; undefined on a side of a race that has lost. */
  begin(type: CallType, name: string): Call | undefined {
    const place = inside.getStore();
    const within = place?.run === this.#run ? place : undefined;
    if (within?.work !== undefined) {
      throw new VolleyError(
        "context_misused",
        `"${name}" was called inside "${within.work}". Steps and effects may not use the context: move the call out of it.`,
      );
    }
    if (type !== "u") this.#use(type, name);
    const contestant = within?.contestant;
    if (contestant?.lost) return undefined;
    const call: Call = { name, startedAt: this.#arrivals.mark(), contestant, working: false };
    contestant?.add(call);
    return call;
  }

  #use(type: CallType, name: string): void {
    checkName(name);
    this.#used ??= new Set();
    if (this.#used.has(type + name)) {
      throw new VolleyError(
        "ask_reused",
        `The name "${name}" was used twice in one run of ${this.#definition.kind} "${this.#definition.name}". ` +
          `In a loop write \`${name}:\${id}\`.`,
      );
    }
    this.#used.add(type + name);
  }

  hasUsed(type: CallType, name: string): boolean {
    return this.#used?.has(type + name) ?? false;
  }

  hand<T>(name: string, promise: ContextPromise<T>): ContextPromise<T> {
    this.#handed.push({ name, promise });
    return promise;
  }

  /** The name of a call that nobody has awaited. */
  get forgotten(): string | undefined {
    return this.#handed.find(({ promise }) => !promise.awaited)?.name;
  }

  /** What is called when the handler has long ended. */
  tooLate<T>(name: string): ContextPromise<T> {
    const { kind, name: target } = this.#definition;
    return rejected(
      new VolleyError(
        "context_misused",
        `"${name}" was called after the handler of ${kind} "${target}" had ended. Await all that uses the context in the handler.`,
      ),
    );
  }
}
