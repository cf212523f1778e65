// The processes of a schedule: servers and workers that come, go, stand still and are replaced, and the stores they share.
import type { LoadMonitor } from "../../src/flow/index.ts";
import { createServer, type Server, type ServerOptions } from "../../src/server/index.ts";
import { createTasks, createWorker, isTerminal, type TaskEngine, type Worker } from "../../src/tasks/index.ts";
import { createLocalWaker } from "../../src/tasks/local-waker.ts";
import { Bank } from "./bank.ts";
import { ledgerOf, NO_TROUBLE, type Odds, storeOf, type Troubles, Wakers } from "./io.ts";
import { ModelLedger } from "./model-ledger.ts";
import { ModelTasks } from "./model-tasks.ts";
import type { Planted } from "./planted.ts";
import { Run, tell } from "./play-handler.ts";
import type { Shape } from "./shapes.ts";
import { type Seen, Stage } from "./stage.ts";
import type { Process, World } from "./world.ts";

/** Three keys, as `volley keygen` prints them. */
const KEYS = ["A", "B", "C"].map((letter) => `vk1_${letter.repeat(42)}A`) as [string, string, string];
/** The rings of a rotation, step by step; the last is safe only once nothing that the first key sealed is valid. */
const RINGS: readonly (readonly string[])[] = [[KEYS[0]], [KEYS[0], KEYS[1]], [KEYS[1], KEYS[0]], [KEYS[1]]];
export const LEASE_MS = 15_000;

const ARGUMENTS = {
  "~standard": {
    version: 1,
    vendor: "simulation",
    validate: (value: unknown) => ({ value: value as { order: string } }),
    jsonSchema: {
      input: () => ({ type: "object", properties: { order: { type: "string" } }, required: ["order"] }),
      output: () => ({}),
    },
  },
} as const;

/** A process with what runs in it. */
export interface Member {
  readonly process: Process;
  readonly server: Server;
  readonly stage: Stage;
  readonly engine: TaskEngine | undefined;
  close(): Promise<void>;
}

export interface FleetPlan {
  readonly shapes: readonly Shape[];
  readonly planted: Planted;
  readonly odds: { readonly store: Odds; readonly work: Odds; readonly effects: Odds };
  /** Clocks of servers differ by up to so much. */
  readonly skewMs: number;
  readonly sheds: number;
}

export class Fleet {
  readonly world: World;
  readonly plan: FleetPlan;
  readonly bank: Bank;
  readonly seen: Seen;
  readonly ledger: ModelLedger;
  readonly tasks: ModelTasks;
  readonly wakers: Wakers;
  readonly servers = new Map<string, Member>();
  readonly workers = new Map<string, Member>();
  readonly all: Member[] = [];
  /** Until when the stores are away. */
  awayUntil = 0;
  ring = 0;
  version = 1;
  /** Nobody is started any more. */
  closing = false;
  readonly hasTasks: boolean;
  /** How many tasks were made, by owner. */
  readonly made = new Map<string, number>();
  #members = 0;

  constructor(world: World, plan: FleetPlan) {
    this.world = world;
    this.plan = plan;
    this.bank = new Bank(world);
    this.seen = {
      answers: new Map(),
      legs: new Map(),
      states: new Map(),
      taskWays: new Map(),
      ended: new Map(),
      taskOf: new Map(),
    };
    this.hasTasks = plan.shapes.some(({ name, task }) => task === true || name === "to-task");
    this.ledger = this.#newLedger();
    this.tasks = this.#watched(plan.planted.tasks?.() ?? new ModelTasks());
    this.wakers = new Wakers(world, plan.planted.wakes === false ? 1 : 0.03);
  }

  begin(): void {
    for (const name of ["S1", "S2", "S3"]) this.startServer(name);
    if (this.hasTasks) for (const name of ["W1", "W2"]) this.startWorker(name);
  }

  startServer(name: string): void {
    this.servers.set(name, this.#start(name, this.plan.skewMs));
  }

  startWorker(name: string): void {
    // Leases are by the clocks of workers, which may differ by much less than they are long.
    const member = this.#start(name, Math.min(this.plan.skewMs, 500));
    const engine = member.engine as TaskEngine;
    let working: Promise<Worker> | undefined;
    const close = async (): Promise<void> => {
      await (await working)?.close();
      await member.close();
    };
    this.workers.set(name, { ...member, close });
    this.world.after(0, member.process, () => {
      working = createWorker(member.server, { engine, leaseMs: LEASE_MS, sweepMs: 5_000 });
    });
  }

  /** Ends a process as a crash does, and starts another in its place. */
  restart(name: string, afterMs: number): void {
    const member = this.servers.get(name) ?? this.workers.get(name);
    if (member === undefined || this.closing) return;
    this.world.kill(member.process);
    this.world.after(afterMs, undefined, () => this.revive(name));
  }

  /** Starts what is dead. */
  revive(name: string): void {
    const member = this.servers.get(name) ?? this.workers.get(name);
    if (member === undefined || member.process.alive || this.closing) return;
    this.world.note(name, "is started");
    if (this.servers.has(name)) this.startServer(name);
    else this.startWorker(name);
  }

  /** The servers that are there to be called. */
  get living(): readonly Member[] {
    return [...this.servers.values()].filter(({ process }) => process.alive);
  }

  #newLedger(): ModelLedger {
    const now = (): number => this.world.now();
    const ledger = this.plan.planted.ledger?.(now) ?? new ModelLedger(now);
    const claim = ledger.claim.bind(ledger);
    ledger.claim = (wanted) => {
      const result = claim(wanted);
      if (result.status === "claimed" && now() > wanted.deadline) {
        this.world.violate(`${wanted.name} was claimed after the deadline of its flow`);
      }
      return result;
    };
    return ledger;
  }

  readonly #options = (): Troubles => ({
    odds: this.world.luck.calm ? NO_TROUBLE : this.plan.odds.store,
    away: () => this.world.time < this.awayUntil,
  });

  #start(name: string, skewMs: number): Member {
    const { world, plan } = this;
    const { planted } = plan;
    const { luck } = world;
    const offset = (luck.number(`${name}/clock`) * 2 - 1) * skewMs;
    const process = world.process(`${name}.${++this.#members}`, offset);
    const stage = new Stage(world, process, this.bank, this.seen, plan.odds.work, plan.odds.effects);
    const model = planted.ledgers === "apart" ? this.#newLedger() : this.ledger;
    const engine = this.hasTasks ? this.#engine(process, name.startsWith("W")) : undefined;
    const makeTasks = planted.taskService ?? ((its: TaskEngine) => createTasks({ engine: its }));
    const shedding: LoadMonitor = {
      overloaded: () => luck.strikes(luck.next(`${process.name}/overloaded`), plan.sheds),
    };
    const options: ServerOptions = {
      name: "simulation",
      version: "1",
      keys: RINGS[this.ring] as readonly string[],
      audience: "https://simulation.example/mcp",
      clock: {
        now: () => world.now(process),
        after: (ms, task) => {
          const event = world.after(Math.max(1, ms), process, task, "timer");
          return () => {
            event.cancelled = true;
          };
        },
      },
      random: (bytes) => randomOf(world, process, bytes),
      ledger: ledgerOf(world, process, model, this.#options),
      ...(plan.sheds > 0 ? { shedding } : {}),
      ...(engine === undefined ? {} : { tasks: makeTasks(engine) }),
      trace: (event) => {
        if (event.type === "fault") world.note(process.name, `fault: ${String(event.error)}`);
      },
      // What a handler does wrong is told to its caller, and so to the judge.
      development: true,
    };
    const server = createServer(planted.server?.(options, process, world) ?? options);
    for (const shape of plan.shapes) this.#register(server, stage, shape);
    const close = async (): Promise<void> => {
      await server.close();
      await engine?.close();
    };
    const member = { process, server, stage, engine, close };
    this.all.push(member);
    return member;
  }

  #register(server: Server, stage: Stage, shape: Shape): void {
    const { version } = this;
    const inTask = stage.process.name.startsWith("W");
    server.tool(shape.name, { ...shape.options, input: ARGUMENTS, version }, ({ order }, ctx) => {
      stage.enter(ctx, order, inTask, shape.options?.singleUse === true);
      return tell(new Run(ctx, stage, order, inTask, shape.slow === true), (run) => shape.play(run, version));
    });
  }

  #engine(process: Process, works: boolean): TaskEngine {
    const { world, wakers } = this;
    const local = createLocalWaker();
    if (works) wakers.workers.set(process, local);
    return {
      store: storeOf(world, process, this.tasks, this.#options),
      waker: { wake: (id, at) => wakers.wake(process, id, at), work: (run, options) => local.work(run, options) },
      close: async () => local.close(),
    };
  }

  /** What has ended has ended. */
  #watched(tasks: ModelTasks): ModelTasks {
    const { world, seen } = this;
    const update = tasks.update.bind(tasks);
    const create = tasks.create.bind(tasks);
    tasks.create = (record, most) => {
      const isNew = !tasks.records.has(record.id);
      if (isNew) this.made.set(record.owner, (this.made.get(record.owner) ?? 0) + 1);
      return create(record, most);
    };
    tasks.update = (id, version, record, sealed) => {
      const before = tasks.records.get(id);
      const done = update(id, version, record, sealed);
      const after = tasks.records.get(id);
      if (before !== undefined && after !== before && isTerminal(before.status)) {
        world.violate(`a task that was ${before.status} became ${after?.status}`);
      }
      if (done && isTerminal(record.status) && !seen.ended.has(id)) {
        seen.ended.set(id, { at: world.time, status: record.status });
        world.note("tasks", `a task is ${record.status}`);
      }
      return done;
    };
    return tasks;
  }
}

function randomOf(world: World, process: Process, bytes: number): Uint8Array {
  const made = new Uint8Array(bytes);
  const name = world.luck.next(`${process.name}/bytes`);
  for (let at = 0; at < bytes; at++) made[at] = world.luck.below(`${name}.${at}`, 256);
  return made;
}
