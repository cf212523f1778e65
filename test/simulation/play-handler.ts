// How the handlers of the simulation speak: each tells what it was answered and what it did.
import type { Context, OnceOptions } from "../../src/flow/index.ts";
import { VolleyError } from "../../src/protocol/index.ts";
import type { Act } from "./bank.ts";
import type { Stage } from "./stage.ts";

/** What a handler returns, as JSON. */
export interface Told {
  readonly said: Readonly<Record<string, unknown>>;
  readonly acts: Readonly<Record<string, Act>>;
  /** Why it did not come to its end. */
  readonly end?: string;
  /** The effects of the row, as a conflict tells them. */
  readonly done?: readonly unknown[];
}

const VALUE = { type: "object", properties: { value: { type: "string" } }, required: ["value"] } as const;

/** What a task passes on, so that it is tried again. */
const PASSING = ["ledger_unavailable", "effect_running"];
/** Ends that a handler may tell. */
const ENDS = ["conflict", "effect_in_doubt", "effect_failed", "timeout", ...PASSING];

/** One run of a handler. */
export class Run {
  readonly ctx: Context;
  readonly stage: Stage;
  readonly order: string;
  readonly inTask: boolean;
  readonly said: Record<string, unknown> = {};
  readonly acts: Record<string, Act> = {};

  readonly slow: boolean;

  constructor(ctx: Context, stage: Stage, order: string, inTask: boolean, slow: boolean) {
    this.slow = slow;
    this.ctx = ctx;
    this.stage = stage;
    this.order = order;
    this.inTask = inTask;
  }

  async ask(key: string): Promise<string> {
    const { value } = await this.ctx.elicit(key, { message: `${key}?`, schema: VALUE });
    this.said[key] = value;
    return value;
  }

  async confirm(key: string): Promise<boolean> {
    const sure = await this.ctx.confirm(key, `Sure about ${JSON.stringify(this.said)}?`);
    this.said[key] = sure;
    return sure;
  }

  step(name: string): Promise<string> {
    return this.ctx.step(name, () => this.stage.io(name));
  }

  /** An effect; with `recovers` it is looked for when nobody knows, at a bank that knows keys again. */
  async once(name: string, { recovers = false, key }: { recovers?: boolean; key?: string } = {}): Promise<Act> {
    const { stage, order } = this;
    const basis = { ...this.said };
    const options: OnceOptions<Act> = {
      ...(key === undefined ? {} : { key, keepFor: 600_000 }),
      ...(recovers ? { recover: (scope) => stage.look(order, name, basis, scope, this.slow) } : {}),
    };
    const act = await this.ctx.once(name, options, (scope) =>
      stage.act(order, name, basis, scope, recovers, this.slow),
    );
    this.acts[name] = act;
    return act;
  }

  /** `Promise.race` whose winner is held against what was seen before. */
  async race(name: string, contestants: Readonly<Record<string, Promise<unknown>>>): Promise<string> {
    const named = Object.entries(contestants).map(([winner, contestant]) => contestant.then(() => winner));
    const winner = await Promise.race(named);
    this.stage.took(this.ctx, this.order, name, winner, this.inTask);
    return winner;
  }
}

/** Plays a handler, and tells how it ended. */
export async function tell(run: Run, handler: (run: Run) => Promise<unknown>): Promise<string> {
  const { said, acts } = run;
  const told = (more: Partial<Told>): string => JSON.stringify({ said, acts, ...more } satisfies Told);
  try {
    await handler(run);
    return told({});
  } catch (error) {
    if (VolleyError.is(error)) {
      if (!ENDS.includes(error.code) || (run.inTask && PASSING.includes(error.code))) throw error;
      const done = "done" in error ? { done: error.done as readonly unknown[] } : {};
      return told({ end: error.name === "NotDone" ? "not_done" : error.code, ...done });
    }
    if (error instanceof Error && / was not taken$| did not answer$/.test(error.message)) {
      return told({ end: "work_failed" });
    }
    throw error;
  }
}
