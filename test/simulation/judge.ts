// What must hold of what was told and done, whatever happened on the way.
import { ownerOf } from "../../src/tasks/data.ts";
import type { Fleet } from "./fleet.ts";
import type { Hearing } from "./patron.ts";
import type { Visit } from "./visit.ts";

/** How often the claim of an effect is renewed. */
const BEAT_MS = 5_000;

export function judge(fleet: Fleet, visits: readonly Visit[]): void {
  for (const visit of visits) judgeHearings(fleet, visit);
  const times = new Map<string, number>();
  for (const { order, name } of fleet.bank.acts) {
    const effect = `${order}: ${name}`;
    times.set(effect, (times.get(effect) ?? 0) + 1);
  }
  for (const [effect, count] of times) if (count > 1) fleet.world.violate(`${effect} was done ${count} times`);
}

function judgeHearings(fleet: Fleet, visit: Visit): void {
  const { world, bank, made } = fleet;
  const { patron, heard, forked } = visit;
  const { shape } = patron;
  const tasks = made.get(ownerOf(patron.principal)) ?? 0;
  if (!forked && tasks > patron.orders)
    world.violate(`${patron.order}: ${tasks} tasks were made of ${patron.orders} flows`);
  const outcomes = new Map<string, string>();
  const doneAt = new Map<string, number>();
  for (const { order, path, told, askedAt, heardAt } of heard) {
    for (const [key, value] of Object.entries(told.said)) {
      if (path.get(key) !== value) {
        world.violate(`${order}: was told ${key} = ${String(value)}, and said ${String(path.get(key))}`);
      }
    }
    for (const [name, act] of Object.entries(told.acts)) {
      if (!bank.done(order, name).some(({ number }) => number === act.number)) {
        world.violate(`${order}: was told that ${name} is done (${act.number}), which it is not`);
      }
      for (const [key, value] of Object.entries(act.basis)) {
        // Of a question that was left out on this path nobody has said anything else.
        if (path.has(key) && path.get(key) !== value) {
          const partly = world.luck.mishaps.some(({ id }) => id.startsWith(`${order}/`) && id.endsWith(":partly"));
          const what = `${name} was done for ${key} = ${String(value)}, and told to ${String(path.get(key))}`;
          world.violate(`${order}: ${what}`, partly ? "subset" : "");
        }
      }
      const text = JSON.stringify(act);
      const before = outcomes.get(`${order}/${name}`) ?? text;
      outcomes.set(`${order}/${name}`, before);
      if (before !== text) world.violate(`${order}: two outcomes of ${name} were told: ${before} and ${text}`);
    }
    const way = JSON.stringify([order, ...path]);
    const { end } = told;
    if (end === undefined) doneAt.set(way, Math.min(heardAt, doneAt.get(way) ?? heardAt));
    if (end === "conflict" && !forked) world.violate(`${order}: a conflict, and nobody has said anything else`);
    if (end === "effect_in_doubt") {
      if (world.luck.mishaps.length === 0) world.violate(`${order}: in doubt, and nothing has gone wrong`);
      if ((doneAt.get(way) ?? askedAt) < askedAt && !shape.name.includes("race"))
        world.violate(`${order}: was done, and then in doubt`);
    }
    if (end === "effect_failed") judgeFailure(fleet, { order, askedAt, heardAt });
  }
}

/** A failure is told of an effect that has failed, and not of one that is done. */
function judgeFailure(
  { world, bank }: Fleet,
  { order, askedAt, heardAt }: Pick<Hearing, "order" | "askedAt" | "heardAt">,
): void {
  const names = [...bank.failed].filter((name) => name.startsWith(`${order}/`)).map((name) => name.split("/")[1] ?? "");
  if (names.length === 0) world.violate(`${order}: was told that an effect failed, and none did`);
  if (names.length === 0) return;
  const doneBy = (time: number): boolean =>
    names.every((name) => bank.done(order, name).some(({ number }) => (bank.times.get(number) ?? time) < time));
  if (doneBy(askedAt)) world.violate(`${order}: asked after ${names.join()} was done, and was told that it failed`);
  else if (doneBy(heardAt)) world.violate(`${order}: was told that ${names.join()} failed, which was done`, "H17");
}

/** What is left once everybody has gone: nothing that somebody waits for, and nothing that is kept for ever. */
export function judgeLeft(fleet: Fleet): void {
  const { world, ledger, tasks } = fleet;
  for (const { owner, kind, ms } of world.left()) {
    // A timer of that length, or the call that it makes.
    const finds = ms === BEAT_MS || kind === "io" ? "heartbeat" : "";
    world.violate(`${owner?.name} has left a ${kind} of ${Math.round(ms)} ms behind`, finds);
  }
  for (const { process, stage } of fleet.all) {
    if (process.alive && stage.held !== 0) world.violate(`${process.name} has not released ${stage.held}`);
  }
  world.time += 2 * 60 * 60_000;
  ledger.sweep();
  tasks.sweep(world.now());
  if (ledger.rows.size > 0) world.violate(`${ledger.rows.size} rows of the ledger are kept too long`);
  if (tasks.records.size > 0) world.violate(`${tasks.records.size} tasks are kept too long`);
}
