// What was told, held against what was really done.
import { debuglog } from "node:util";
import type { Truth } from "../truth.ts";
import type { TaskCounts } from "./counts.ts";
import type { Told } from "./place.ts";
import type { ToolName } from "./schedule.ts";
import type { StepLog } from "./step-log.ts";
import type { Said } from "./task-process.ts";

/** `NODE_DEBUG=fleet` tells which. */
const debug = debuglog("fleet");

const ASKED: Readonly<Record<ToolName, readonly string[]>> = {
  order: ["item", "count", "note", "size", "stars"],
  ticket: ["size", "stars"],
  job: ["size", "stars"],
};

export function judge(told: readonly Told[], truth: Truth, log: StepLog, counts: TaskCounts): void {
  const done = truth.done();
  for (const effects of done.values()) {
    counts.effects += effects.length;
    if (effects.length > 1) counts.doneTwice += 1;
  }
  const { late, wrongly } = truth.again();
  counts.effectsLate = late;
  counts.doneTwice += wrongly;
  const again = log.finishedAgain();
  counts.finishedAgain = again.length;
  for (const step of again) debug("%s: it was finished", step);
  counts.unfinishedAgain = log.unfinishedAgain().length;
  counts.lostRuns = log.lostRuns();
  const troubles = (...kinds: readonly string[]): number =>
    kinds.reduce((total, kind) => total + truth.troubles(kind), 0);
  counts.killsBeforeFirstStep = troubles("birth", "first");
  counts.killsAtSteps = troubles("in_step", "after_step");
  counts.killsInEffects = troubles("die_before", "die_after");
  for (const each of told) judgeOne(each, done.get(each.args.order) ?? [], log, counts);
  const orders = new Map<string, Set<string>>();
  for (const { id, args } of told) orders.set(args.order, (orders.get(args.order) ?? new Set()).add(id));
  for (const ids of orders.values()) if (ids.size > 1) counts.secondTasks += 1;
}

function judgeOne({ plan, args, id, ended }: Told, effects: readonly string[], log: StepLog, counts: TaskCounts): void {
  const { order } = args;
  const kept = log.valuesOf(order);
  // Two tasks of one order would each have kept a step of their own.
  for (const values of kept.values()) if (values.length > 1) counts.secondTasks += 1;
  const born = log.bornOf(order);
  if (born !== undefined) {
    if (born === id) counts.foundAgain += 1;
    else counts.secondTasks += 1;
  }
  // Before its last question a task has done nothing.
  if (ended.status === "cancelled" && effects.length > 0) counts.endedOtherwise += 1;
  if (ended.status !== "completed" || ended.result.isError === true) return;
  const [block] = ended.result.content as readonly { readonly text: string }[];
  const said = JSON.parse(block?.text ?? "{}") as Said;
  if (ASKED[plan.tool].some((field) => said.answers[field] !== plan.answers[field])) counts.answersLost += 1;
  if (effects.length === 0) counts.lost += 1;
  else if (!effects.includes(said.done)) counts.endedOtherwise += 1;
  for (const values of kept.values()) {
    if (![...said.steps, said.done].includes(values[0] ?? "")) counts.endedOtherwise += 1;
  }
}
