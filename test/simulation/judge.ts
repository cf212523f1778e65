// What must hold of what was told and done, whatever happened on the way.
import type { Fleet } from "./fleet.ts";
import type { Visit } from "./visit.ts";

export function judge(fleet: Fleet, visits: readonly Visit[]): void {
  for (const visit of visits) judgeHearings(fleet, visit);
  const times = new Map<string, number>();
  for (const { order, name } of fleet.bank.acts) {
    const effect = `${order}: ${name}`;
    times.set(effect, (times.get(effect) ?? 0) + 1);
  }
  for (const [effect, count] of times) if (count > 1) fleet.world.violate(`${effect} was done ${count} times`);
}

function judgeHearings({ world, bank }: Fleet, { patron, heard, forked }: Visit): void {
  const { shape } = patron;
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
        if (path.get(key) !== value) {
          world.violate(`${order}: ${name} was done for ${key} = ${String(value)}, and told to ${String(path.get(key))}`);
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
      if ((doneAt.get(way) ?? askedAt) < askedAt && !shape.name.includes("race")) world.violate(`${order}: was done, and then in doubt`);
    }
    if (end === "effect_failed" && ![...bank.failed].some((name) => name.startsWith(`${order}/`))) {
      world.violate(`${order}: was told that an effect failed, and none did`);
    }
  }
}

/** What is left once everybody has gone: nothing that somebody waits for, and nothing that is kept for ever. */
export function judgeLeft(fleet: Fleet): void {
  const { world, ledger, tasks } = fleet;
  for (const { owner, kind, at } of world.left()) {
    world.violate(`${owner?.name} has left a ${kind} behind, ${Math.round(at - world.time)} ms from now`);
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
