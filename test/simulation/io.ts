// Whatever a process waits for: each call may be refused, lose its answer after its effect, take long, or be the last thing
// that the process does.
import { giveBack, type Ledger } from "../../src/ledger/index.ts";
import type { TaskEngine, TaskStore } from "../../src/tasks/index.ts";
import type { ModelLedger } from "./model-ledger.ts";
import type { ModelTasks } from "./model-tasks.ts";
import type { Process, World } from "./world.ts";

export type Trouble = "refused" | "lost" | "slow" | "dies_before" | "dies_after" | "pauses";

/** How likely each trouble is at a call. */
export type Odds = readonly (readonly [Trouble, number])[];

export const NO_TROUBLE: Odds = [];

/** So long a store that does not answer lets its callers wait. */
const GIVE_UP_MS = 6_000;

export interface Troubles {
  readonly odds: Odds;
  /** Whether the other end is away. */
  readonly away?: () => boolean;
}

export interface Options<T> extends Troubles {
  /** An answer that nobody waits for any more. */
  readonly late?: (value: T) => void;
}

/** Calls something outside of the process: `act` is the moment at which it happens there. */
export function call<T>(world: World, process: Process, kind: string, act: () => T, options: Options<T>): Promise<T> {
  const { luck } = world;
  const id = luck.next(`${process.name}/${kind}`);
  const trouble = luck.which(id, options.odds);
  const there = luck.latency(`${id}>`);
  const back = luck.latency(`${id}<`) + (trouble === "slow" ? 1_000 + luck.number(`${id}+`) * 40_000 : 0);
  const fails = trouble === "refused" || trouble === "lost";
  const says = fails ? GIVE_UP_MS * luck.number(`${id}-`) : back;
  if (trouble === "dies_before") world.kill(process);
  if (trouble === "pauses") world.pause(process, 5_000 + luck.number(`${id}+`) * 50_000);
  return new Promise((resolve, reject) => {
    if (trouble === "dies_before") return;
    world.after(
      there,
      undefined,
      () => {
        const away = options.away?.() === true;
        if (away || trouble === "refused") {
          world.after(Math.max(says, 1), process, () => reject(new Error(`${kind} was not taken`)));
          return;
        }
        let value: T;
        try {
          value = act();
        } catch (error) {
          world.after(back, process, () => reject(error));
          return;
        }
        if (trouble === "dies_after") world.kill(process);
        if (trouble === "lost") {
          world.after(says, process, () => {
            reject(new Error(`${kind} did not answer`));
            options.late?.(value);
          });
        } else world.after(back, process, () => resolve(value));
      },
      "moment",
    );
  });
}

/** A model of a ledger as one process reaches it. */
export function ledgerOf(world: World, process: Process, model: ModelLedger, options: () => Troubles): Ledger {
  const ask = <T>(kind: string, act: () => T, late?: (value: T) => void): Promise<T> =>
    call(world, process, kind, act, { ...options(), ...(late === undefined ? {} : { late }) });
  const ledger: Ledger = {
    shared: true,
    claim: (claim) =>
      ask(
        "claim",
        () => model.claim(claim),
        (result) => {
          if (result.status !== "claimed") return;
          giveBack(ledger, { ...claim, epoch: result.epoch }).catch(() => undefined);
        },
      ),
    renew: (hold, leaseMs) => ask("renew", () => model.renew(hold, leaseMs)),
    settle: (hold, outcome) => ask("settle", () => model.settle(hold, outcome)),
    release: (hold) => ask("release", () => model.release(hold)),
    doubt: (hold) => ask("doubt", () => model.doubt(hold)),
  };
  return ledger;
}

/** A model of a store of tasks as one process reaches it. */
export function storeOf(world: World, process: Process, model: ModelTasks, options: () => Troubles): TaskStore {
  const ask = <T>(kind: string, act: () => T): Promise<T> => call(world, process, kind, act, options());
  return {
    create: (record, most) => ask("create", () => model.create(record, most)),
    read: (id) => ask("read", () => model.read(id)),
    update: (id, version, head, sealed) => ask("update", () => model.update(id, version, head, sealed)),
    due: (now, limit) => ask("due", () => model.due(now, limit)),
    sweep: (now) => ask("sweep", () => model.sweep(now)),
  };
}

/** The wakers of processes, by which each reaches the others' workers: a call may get lost, or be heard twice. */
export class Wakers {
  readonly workers = new Map<Process, TaskEngine["waker"]>();
  readonly #world: World;
  readonly #lost: number;

  constructor(world: World, lost: number) {
    this.#world = world;
    this.#lost = lost;
  }

  wake(from: Process, id: string, at: number | undefined): Promise<void> {
    const world = this.#world;
    const { luck } = world;
    const name = luck.next(`${from.name}/wake`);
    const trouble = luck.which(name, [
      ["lost", this.#lost],
      ["twice", this.#lost],
    ]);
    const workers = [...this.workers.keys()].filter(({ alive }) => alive);
    const heard = trouble === "lost" ? 0 : trouble === "twice" ? 2 : 1;
    for (let n = 0; n < heard && workers.length > 0; n++) {
      const worker = luck.pick(`${name}/${n}`, workers);
      world.after(luck.latency(`${name}/${n}`), worker, () => void this.workers.get(worker)?.wake(id, at));
    }
    return Promise.resolve();
  }
}
