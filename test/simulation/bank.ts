// What was really done outside, whatever any ledger says of it.
import type { World } from "./world.ts";

/** An effect as the world has seen it. */
export interface Act {
  readonly number: number;
  readonly order: string;
  readonly name: string;
  /** The answers that whoever did it had in mind. */
  readonly basis: Readonly<Record<string, unknown>>;
}

export class Bank {
  readonly acts: Act[] = [];
  /** What has failed for good, as `order/name`. */
  readonly failed = new Set<string>();
  /** When each was done, by its number. */
  readonly times = new Map<number, number>();
  readonly #byKey = new Map<string, Act>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** @param knowing it knows a key again, as a payment provider does; else it does whatever it is told */
  act(order: string, name: string, basis: Act["basis"], key: string, knowing: boolean): Act {
    const known = knowing ? this.#byKey.get(key) : undefined;
    if (known !== undefined) return known;
    const act: Act = { number: this.acts.length + 1, order, name, basis };
    this.acts.push(act);
    this.times.set(act.number, this.#world.time);
    this.#byKey.set(key, act);
    this.#world.note("bank", `${order}: ${name} is done (${act.number}) on ${JSON.stringify(basis)}`);
    return act;
  }

  find(key: string): Act | undefined {
    return this.#byKey.get(key);
  }

  done(order: string, name: string): readonly Act[] {
    return this.acts.filter((act) => act.order === order && act.name === name);
  }
}
