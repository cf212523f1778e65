// One schedule: what its seed makes of everything, played to the end and judged.
import { Fleet, type FleetPlan } from "./fleet.ts";
import type { Odds } from "./io.ts";
import { judge, judgeLeft } from "./judge.ts";
import type { Mishap, Wishes } from "./luck.ts";
import { Patron } from "./patron.ts";
import type { Planted } from "./planted.ts";
import { inhabit } from "./real-time.ts";
import { SHAPES, type Shape } from "./shapes.ts";
import { Visit } from "./visit.ts";
import { type Line, type Process, World } from "./world.ts";

export interface ScheduleOptions extends Wishes {
  readonly planted?: Planted;
  /** Known faults of the library, whose shapes and checks are left out. */
  readonly known?: readonly string[];
  /** Only these shapes. */
  readonly shapes?: readonly string[];
  /** Only the flow of this number comes, from 0. */
  readonly alone?: number;
}

export interface Played {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly mishaps: readonly Mishap[];
  readonly lines: readonly Line[];
  readonly shapes: readonly string[];
  readonly events: number;
}

const NOTHING_PLANTED: Planted = { name: "nothing" };
/** So long things go wrong. */
const TROUBLED_MS = 30_000;
/** So long whoever closes may take, and what is left may need to end. */
const CLOSING_MS = 180_000;

export async function playSchedule(seed: number, options: ScheduleOptions = {}): Promise<Played> {
  const { planted = NOTHING_PLANTED, known = [] } = options;
  const world = new World(seed, options, known);
  const leave = inhabit(world);
  const undo = planted.patch?.();
  const unhandled = (error: unknown): void => world.violate(`nobody has handled ${String(error)}`);
  process.on("unhandledRejection", unhandled);
  const shapes = drawShapes(world, options.shapes ?? planted.shapes, known);
  try {
    await play(world, planOf(world, shapes, planted), options.alone);
  } finally {
    process.off("unhandledRejection", unhandled);
    undo?.();
    leave();
  }
  const { violations, lines, events, luck } = world;
  return { seed, violations, lines, events, mishaps: luck.mishaps, shapes: shapes.map(({ name }) => name) };
}

async function play(world: World, plan: FleetPlan, alone: number | undefined): Promise<void> {
  const fleet = new Fleet(world, plan);
  const visits: Visit[] = [];
  let going = 0;
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error;
  };
  const stage = world.process("stage");
  world.after(0, stage, () => fleet.begin());
  plan.shapes.forEach((shape, index) => {
    if (alone !== undefined && index !== alone) return;
    going += 1;
    const order = `order${index + 1}`;
    const arrives = async (): Promise<void> => {
      const patron = await Patron.arrive(fleet, order, shape);
      const visit = new Visit(patron);
      visits.push(visit);
      await visit.play();
      await patron.client.close();
    };
    world.after(world.luck.number(`${order}/arrives`) * 2_000, stage, () => {
      arrives()
        .catch(fail)
        .finally(() => {
          going -= 1;
        });
    });
  });
  plant(fleet);
  world.after(TROUBLED_MS, stage, () => {
    world.luck.calm = true;
    for (const name of [...fleet.servers.keys(), ...fleet.workers.keys()]) fleet.revive(name);
    world.note("", "nothing goes wrong any more");
  });
  await world.run(() => (going === 0 && visits.length > 0) || failure !== undefined);
  if (failure !== undefined) throw failure;
  if (going > 0) world.violate("somebody waits for something that never comes");
  judge(fleet, visits);
  if (world.violations.length > 0) return;

  const closing = new Set<Process>();
  world.luck.calm = true;
  fleet.closing = true;
  world.after(0, stage, () => {
    for (const member of fleet.all) {
      if (!member.process.alive) continue;
      closing.add(member.process);
      member.process.atDeath.push(() => closing.delete(member.process));
      const worker = [...fleet.workers.values()].find(({ process }) => process === member.process);
      world.after(0, member.process, () => {
        void (worker ?? member).close().then(() => {
          closing.delete(member.process);
        });
      });
    }
  });
  await world.run(() => false, world.time + CLOSING_MS);
  if (closing.size > 0) world.violate("a process does not close");
  judgeLeft(fleet);
}

function drawShapes({ luck }: World, only: readonly string[] | undefined, known: readonly string[]): readonly Shape[] {
  const wanted = SHAPES.filter(
    ({ name, finds }) => (only === undefined || only.includes(name)) && !(finds !== undefined && known.includes(finds)),
  );
  const count = luck.number("flows") < 0.7 ? 1 : 2;
  return Array.from({ length: count }, (_, index) => luck.pick(`shape/${index}`, wanted)).filter(
    (shape, index, all) => all.indexOf(shape) === index,
  );
}

/** How bad it gets. */
function planOf({ luck }: World, shapes: readonly Shape[], planted: Planted): FleetPlan {
  const bad = luck.pick("bad", [0, 0.5, 1, 2]);
  const odds = (...chances: Odds): Odds => chances.map(([trouble, chance]) => [trouble, chance * bad] as const);
  return {
    shapes,
    planted,
    odds: {
      store: odds(
        ["refused", 0.02],
        ["lost", 0.02],
        ["slow", 0.01],
        ["dies_before", 0.005],
        ["dies_after", 0.01],
        ["pauses", 0.005],
      ),
      work: odds(["refused", 0.02], ["slow", 0.04], ["dies_after", 0.02], ["pauses", 0.01]),
      effects: odds(["lost", 0.03], ["slow", 0.08], ["dies_before", 0.04], ["dies_after", 0.06], ["pauses", 0.06]),
    },
    skewMs: luck.pick("skew", [0, 500, 55_000, 55_000]),
    sheds: shapes.some(({ name }) => name === "shedding") ? 0.2 : 0,
  };
}

/** What happens to whole processes and stores. */
function plant(fleet: Fleet): void {
  const { world } = fleet;
  const { luck } = world;
  const names = ["S1", "S2", "S3", ...(fleet.hasTasks ? ["W1", "W2"] : [])];
  for (let index = 0; index < 3; index++) {
    const id = `incident/${index}`;
    world.after(luck.number(`${id}@`) * TROUBLED_MS * 0.9, undefined, () => {
      const kind = luck.which(id, [
        ["kill", 0.12],
        ["pause", 0.08],
        ["away", 0.08],
        ["upgrade", 0.06],
        ["rotate", 0.08],
      ]);
      const name = luck.pick(`${id}#`, names);
      const for_ = luck.number(`${id}+`);
      const member = fleet.servers.get(name) ?? fleet.workers.get(name);
      if (kind === "kill") fleet.restart(name, for_ * 10_000);
      if (kind === "pause" && member !== undefined) world.pause(member.process, 1_000 + for_ * 40_000);
      if (kind === "away") {
        fleet.awayUntil = world.time + for_ * 20_000;
        world.note("stores", `are away for ${Math.round(for_ * 20_000)} ms`);
      }
      if (kind === "upgrade") {
        fleet.version = 2;
        replaceAll(fleet, names, 0);
      }
      if (kind === "rotate") rotate(fleet, names);
    });
  }
}

/** One process after the other. */
function replaceAll(fleet: Fleet, names: readonly string[], afterMs: number): void {
  names.forEach((name, index) => {
    fleet.world.after(afterMs + index * 700, undefined, () => fleet.restart(name, 300));
  });
}

/** The next key comes to every process before any of them seals with it. */
function rotate(fleet: Fleet, names: readonly string[]): void {
  if (fleet.ring > 0) return;
  const last = fleet.plan.planted.rotatesTooFast ? 3 : 2;
  for (let step = 1; step <= last; step++) {
    fleet.world.after((step - 1) * 6_000, undefined, () => {
      fleet.ring = step;
      fleet.world.note("", `step ${step} of a rotation of keys`);
      replaceAll(fleet, names, 0);
    });
  }
}
