// What a handler of the simulation works with, and what is known of each request that reaches one.
import type { Context, WorkScope } from "../../src/flow/index.ts";
import { Failed, NotDone } from "../../src/flow/index.ts";
import type { Act, Bank } from "./bank.ts";
import { call, type Odds } from "./io.ts";
import type { Process, World } from "./world.ts";

/** One delivery of one request. */
export interface Leg {
  readonly order: string;
  readonly state: string | undefined;
  readonly answers: string;
  /** Who won which race, by name; begins as what the state's maker knew. */
  readonly ways: Map<string, string>;
  /** Why no server may take it. */
  readonly forged: string | undefined;
}

/** What is known of a state that was sealed. */
export interface Sealed {
  readonly ways: ReadonlyMap<string, string>;
  /** By the clock of whoever sealed it. */
  readonly expiresBy: number;
  readonly expiresFrom: number;
  readonly deadlineFrom: number;
  readonly deadlineBy: number;
  readonly round: number;
  /** The sets of answers with which it was presented, or another state of the flow's same round. */
  readonly presented: Set<string>;
  /** Those that a handler has been given. */
  readonly used: Set<string>;
}

/** All that was seen on the way, outside of the library. */
export interface Seen {
  /** The sets of answers of each round, by order and round: presented, and used. */
  readonly answers: Map<string, Pick<Sealed, "presented" | "used">>;
  readonly legs: Map<string, Leg>;
  readonly states: Map<string, Sealed>;
  /** Who won which race in a task, by `order/name`. */
  readonly taskWays: Map<string, string>;
  /** When the task of an order ended, and how. */
  readonly ended: Map<string, { readonly at: number; readonly status: string }>;
  readonly taskOf: Map<string, string>;
}

/** How long after a task's end whoever had claimed an effect by then may begin it. */
const CLAIMED_MS = 17_000;

export class Stage {
  readonly world: World;
  readonly process: Process;
  readonly bank: Bank;
  readonly record: Seen;
  readonly work: Odds;
  readonly effects: Odds;
  /** How many were acquired and not released. */
  held = 0;

  constructor(world: World, process: Process, bank: Bank, record: Seen, work: Odds, effects: Odds) {
    this.world = world;
    this.process = process;
    this.bank = bank;
    this.record = record;
    this.work = work;
    this.effects = effects;
  }

  /** The delivery to which a run belongs; undefined in a task. */
  leg(ctx: Context): Leg | undefined {
    return this.record.legs.get(ctx.client.info?.version ?? "");
  }

  /** Called by each handler first. */
  enter(ctx: Context, order: string, inTask: boolean, singleUse: boolean): void {
    if (inTask) return;
    const { world } = this;
    const leg = this.leg(ctx);
    if (leg === undefined) {
      world.violate(`${order}: a handler runs for a request that nobody has sent`);
      return;
    }
    if (leg.forged !== undefined) world.violate(`${order}: a state was accepted although ${leg.forged}`);
    if (leg.order !== order) world.violate(`${order}: a handler runs with the state of ${leg.order}`);
    if (leg.state === undefined) return;
    const used = this.record.states.get(leg.state)?.used.add(leg.answers);
    if (!singleUse || used === undefined || used.size < 2) return;
    const claimLost = world.luck.mishaps.some(({ id }) => /claim\/\d+:lost$/.test(id));
    world.violate(`${order}: one state was used with two answers`, claimLost ? "single-use" : "");
  }

  /** Work that waits for something outside. */
  io(label: string): Promise<string> {
    return call(this.world, this.process, label, () => label, { odds: this.work });
  }

  /** Notes who won a race: whoever goes on from this run must see the same. */
  took(ctx: Context, order: string, race: string, winner: string, inTask: boolean): void {
    const leg = inTask ? undefined : this.leg(ctx);
    const ways = leg?.ways ?? this.record.taskWays;
    const name = leg === undefined ? `${order}/${race}` : race;
    const before = ways.get(name);
    if (before === undefined) this.world.note(this.process.name, `${order}: ${race} goes to ${winner}`);
    else if (before !== winner) {
      this.world.violate(`${order}: ${race} went to ${before}, and to ${winner} when it was played again`);
    }
    ways.set(name, winner);
  }

  /** Does an effect, which may fail in each way. */
  async act(
    order: string,
    name: string,
    basis: Act["basis"],
    scope: WorkScope,
    knowing: boolean,
    slow: boolean,
  ): Promise<Act> {
    const { world, process, bank } = this;
    const haste = slow ? 4 : 1;
    this.#checkTask(order, name);
    const id = world.luck.next(`${order}/${name}`);
    const delay = world.luck.which(`${id}/begin`, [
      ["takes_long", 0.06 * haste],
      ["stands_still", 0.08 * haste],
    ]);
    const forMs = 12_000 + world.luck.number(`${id}+`) * 30_000;
    if (delay === "stands_still") world.pause(process, forMs);
    if (delay !== undefined) await world.sleep(delay === "takes_long" ? forMs : 1, process);
    const fate = world.luck.which(id, [
      // Who comes late and does not do it at all must not undo what another has done.
      ["not_done", delay === undefined ? 0.05 : 0.2],
      ["fails", delay === undefined ? 0.04 : 0.2],
      ["throws", 0.03],
      ["done_but_throws", 0.03],
    ]);
    if (fate === "not_done") {
      await this.io("refusal");
      throw new NotDone("not now");
    }
    if (fate === "fails") {
      await this.io("failure");
      bank.failed.add(`${order}/${name}`);
      throw new Failed("never");
    }
    if (fate === "throws") throw new Error("broken before");
    const act = (): Act => bank.act(order, name, basis, scope.idempotencyKey, knowing);
    const done = await call(world, process, name, act, { odds: this.effects });
    if (fate === "done_but_throws") throw new Error("broken after");
    return done;
  }

  /** Looks whether an effect was done, and does it if not. */
  async look(
    order: string,
    name: string,
    basis: Act["basis"],
    scope: WorkScope,
    slow: boolean,
  ): Promise<Act & { found: boolean }> {
    // Before it looks: who stands still between looking and acting is beyond any library, and the bank's to recognise.
    this.#checkTask(order, name);
    const find = (): Act | undefined => this.bank.find(scope.idempotencyKey);
    const found = await call(this.world, this.process, `find-${name}`, find, { odds: this.work });
    const { luck } = this.world;
    const id = luck.next(`${order}/look-${name}`);
    if (luck.strikes(`${id}:takes_long`, slow ? 0.5 : 0.1))
      await this.world.sleep(luck.number(`${id}+`) * 30_000, this.process);
    if (found !== undefined) return { ...found, found: true };
    const act = (): Act => this.bank.act(order, name, basis, scope.idempotencyKey, true);
    return { ...(await call(this.world, this.process, name, act, { odds: this.effects })), found: true };
  }

  /** No effect begins once its task has ended. */
  #checkTask(order: string, name: string): void {
    const ended = this.record.ended.get(this.record.taskOf.get(order) ?? "");
    if (ended === undefined || this.world.time - ended.at < CLAIMED_MS) return;
    this.world.violate(`${order}: ${name} begins long after its task was ${ended.status}`, "H15");
  }
}
