import { VolleyError } from "../../protocol/index.ts";

/** The person said no. Thrown by asks; uncaught in a tool it becomes a result with `isError` and one sentence. */
export class Declined extends VolleyError {
  readonly key: string;

  constructor(key: string) {
    super("declined", `The request for "${key}" was declined.`);
    this.name = "Declined";
    this.key = key;
  }
}

/** The person dismissed the question without a choice. */
export class Cancelled extends VolleyError {
  readonly key: string;

  constructor(key: string) {
    super("cancelled", `The request for "${key}" was dismissed without an answer.`);
    this.name = "Cancelled";
    this.key = key;
  }
}

/** What an effect left in the ledger, as far as it may be told. */
export interface EffectDone {
  readonly name: string;
  readonly value: unknown;
}

/** The effect was already claimed on other answers; `done` says what was done, so that the handler can tell it. */
export class Conflict extends VolleyError {
  readonly done: readonly EffectDone[];

  constructor(name: string, done: readonly EffectDone[]) {
    super("conflict", `"${name}" was already decided with other answers; they can no longer be changed.`);
    this.name = "Conflict";
    this.done = done;
  }
}

/** Thrown by an effect that knows it changed nothing: the claim is given back and may be tried again. */
export class NotDone extends VolleyError {
  constructor(message: string, options?: ErrorOptions) {
    super("effect_failed", message, options);
    this.name = "NotDone";
  }
}

/** Thrown by an effect that failed for good: the failure is recorded and told to every later round. */
export class Failed extends VolleyError {
  constructor(message: string, options?: ErrorOptions) {
    super("effect_failed", message, options);
    this.name = "Failed";
  }
}

/** Nobody knows whether the effect happened: its owner died, lost its lease, or threw. Pass `recover` to look. */
export class InDoubt extends VolleyError {
  constructor(name: string, options?: ErrorOptions) {
    super(
      "effect_in_doubt",
      `It is not known whether "${name}" happened. Give \`once\` a \`recover\` that looks before it acts.`,
      options,
    );
    this.name = "InDoubt";
  }
}
