// Tasks that are played by hand: every state is kept, lost requests are sent again, and answers more than once.
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Started } from "../../../src/client.ts";
import { insist, saysTryAgain } from "../ending.ts";
import type { TaskCounts } from "./counts.ts";
import {
  type Attempt,
  accept,
  createPerson,
  type DetailedTask,
  isEnded,
  type Kept,
  type Person,
  type Played,
  readCallFailure,
  readResult,
  type Scene,
  type TaskHandle,
} from "./scene.ts";
import type { Answers, TaskPlan } from "./schedule.ts";
import { POLL_MS } from "./task-process.ts";

type Step = Started<"tools/call">;

/** @param born hears of the task once there is one */
export async function playByHand(scene: Scene, { plan, args }: Attempt, born: (id: string) => void): Promise<Played> {
  const { mine, counts } = scene;
  const person = createPerson(plan, counts);
  const kept: Kept[] = [];
  let twin: Promise<Step> | undefined;
  let step: Step;
  try {
    const start = (): Promise<Step> => mine.start("tools/call", { name: plan.tool, arguments: args });
    // Only a question leaves something to go on from: what failed before it may have made a task.
    step = await (plan.tool === "order" ? insist(start, wantsMore) : start());
    while (!step.done) {
      const pending = step;
      for (const [key, request] of Object.entries(pending.requests)) {
        pending.answer(key, { ...person.answer(fieldsOf(request)) });
      }
      kept.push(pending.toJSON());
      if (plan.twin && Object.hasOwn(pending.requests, "note")) twin = present(mine, pending.toJSON());
      step = await insist(() => pending.continue(), wantsMore);
    }
  } catch (error) {
    await twin?.catch(() => undefined);
    return readCallFailure(error);
  }
  const other = await twin?.catch(() => undefined);
  if (step.task === undefined) return readResult(step.result);
  const handle = step.task;
  born(handle.id);
  if (other !== undefined) {
    counts.replays += 1;
    if (!other.done || other.task?.id !== handle.id) counts.secondTasks += 1;
  }
  return { type: "task", handle, ended: await play(scene, plan, handle, person), kept };
}

/** Presents a round's state again, with the answers that it had or with another one. */
export function present(client: Client, kept: Kept, note?: string): Promise<Step> {
  return insist(async () => {
    const pending = client.resume(kept);
    if (note !== undefined) pending.answer("note", { note });
    return (await pending.continue()) as Step;
  }, wantsMore);
}

/** Looks and answers until it has ended. */
async function play(scene: Scene, plan: TaskPlan, handle: TaskHandle, person: Person): Promise<DetailedTask> {
  const taken = new Set<string>();
  let cancelled = false;
  for (;;) {
    const task = await insist(
      () => handle.get(),
      () => false,
    );
    if (isEnded(task)) return task;
    const asks = task.status === "input_required";
    const isTime = { at_once: true, asked: asks, later: taken.size > 0 };
    if (!cancelled && plan.cancel !== undefined && isTime[plan.cancel]) {
      await insist(
        () => handle.cancel(),
        () => false,
      );
      cancelled = true;
    }
    for (const [key, request] of asks ? Object.entries(task.inputRequests) : []) {
      // What was acknowledged is settled: nobody sees the question again.
      if (taken.has(key)) scene.counts.askedAgain += 1;
      else {
        const answers = person.answer(fieldsOf(request));
        if (answers === undefined) continue;
        await send(scene.mine, plan, handle.id, key, answers, scene.counts);
        taken.add(key);
      }
    }
    await sleep(POLL_MS);
  }
}

async function send(
  client: Client,
  plan: TaskPlan,
  taskId: string,
  key: string,
  answers: Answers,
  counts: TaskCounts,
): Promise<void> {
  const update = async (content: Answers): Promise<void> => {
    await insist(
      () => client.request("tasks/update", { taskId, inputResponses: { [key]: accept(content) } }),
      () => false,
    );
  };
  if (!plan.twice) return update(answers);
  await Promise.all([update(answers), update(answers)]);
  await update(Object.fromEntries(Object.keys(answers).map((field) => [field, plan.others[field] ?? ""])));
  counts.sentAgain += 2;
}

function fieldsOf(request: { readonly params?: unknown }): string[] {
  const { requestedSchema } = request.params as { readonly requestedSchema: { readonly properties: object } };
  return Object.keys(requestedSchema.properties);
}

function wantsMore(step: Step): boolean {
  return step.done && saysTryAgain(step.result);
}
