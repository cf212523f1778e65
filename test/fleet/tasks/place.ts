// One place at which tasks are played, one after another: a user with two clients, and another user.
import { type Client, connect } from "../../../src/client.ts";
import { insist } from "../ending.ts";
import { playByHand, present } from "./by-hand.ts";
import type { TaskCounts } from "./counts.ts";
import { follow } from "./follow.ts";
import { type Attempt, accept, attempt, type DetailedTask, type Kept, type Person, type Scene } from "./scene.ts";
import type { TaskPlan } from "./schedule.ts";
import { tryAsStranger } from "./strangers.ts";

/** What a client was told about a task. */
export interface Told extends Attempt {
  readonly id: string;
  readonly ended: DetailedTask;
}

export interface TaskPlace {
  play(plan: TaskPlan): Promise<void>;
  /** Looks at all its tasks once more: they must be as they were when they ended. */
  lookAgain(): Promise<void>;
  close(): Promise<void>;
}

const MOST_ATTEMPTS = 20;
const CLEAR = /It is not known whether/;
const DECIDED = /already decided with other answers/;

export async function openTaskPlace(url: string, told: Told[], counts: TaskCounts, number: number): Promise<TaskPlace> {
  let person: Person | undefined;
  const open = (user: number): Promise<Client> =>
    connect(url, {
      headers: { authorization: `Bearer user-${user}` },
      form: (ask) =>
        person?.answer(ask.fields.map(({ name }) => name)) ??
        // Nobody answers, until the question is taken away.
        new Promise((resolve) => ask.signal.addEventListener("abort", () => resolve("cancel"))),
      // That a task could not be cancelled: it is tried again.
      onWarning: () => undefined,
    });
  const [mine, second, stranger] = await Promise.all([open(number), open(number), open(number + 1_000)]);
  const scene: Scene = {
    mine,
    second,
    stranger,
    counts,
    ask(next) {
      person = next;
    },
  };
  const ours: Told[] = [];
  const look = (id: string): Promise<DetailedTask> =>
    insist(
      () => mine.task(id).get(),
      () => false,
    );

  /** Plays one try; true when another one is due. */
  const playOnce = async (next: Attempt): Promise<boolean> => {
    const { plan, args } = next;
    let strangers: Promise<void> | undefined;
    const born = (id: string): void => {
      if (plan.foreign) strangers = tryAsStranger(stranger, id, plan, counts);
      strangers?.catch(() => undefined);
    };
    const played = await (plan.client === "hand" ? playByHand : follow)(scene, next, born);
    await strangers;
    if (played.type === "failed") return mayTryAgain(args.order, played);
    const { handle, ended, kept } = played;
    const { id } = handle;
    ours.push({ ...next, id, ended });
    told.push({ ...next, id, ended });
    if (plan.foreign) await tryAsStranger(stranger, id, plan, counts);
    if (plan.late) {
      const { size = "", stars = "" } = plan.others;
      const inputResponses = { size: accept({ size }), stars: accept({ stars }) };
      await insist(
        () => mine.request("tasks/update", { taskId: id, inputResponses }),
        () => false,
      );
      counts.late += 1;
    }
    const last = kept.at(-1);
    for (const kind of last === undefined ? [] : plan.replays) await again(kind, plan, last as Kept, id);
    return hear(args.order, plan, ended);
  };

  const again = async (kind: "same" | "other", plan: TaskPlan, kept: Kept, id: string): Promise<void> => {
    counts.replays += 1;
    const step = await present(mine, kept, kind === "other" ? String(plan.others.note) : undefined);
    if (kind === "same") {
      if (!step.done || step.task?.id !== id) counts.secondTasks += 1;
    } else if (step.done && step.task !== undefined) counts.secondTasks += 1;
    else if (step.done && step.result?.isError && DECIDED.test(JSON.stringify(step.result.content)))
      counts.conflicts += 1;
    else counts.unclear.push(`task ${plan.index}, with other answers: ${JSON.stringify(step)}`);
  };

  /** Counts how a task ended; true when another try is due. */
  const hear = (order: string, plan: TaskPlan, ended: DetailedTask): boolean => {
    if (plan.cancel !== undefined) {
      if (ended.status === "cancelled") counts.cancelled += 1;
      else otherwise(order, ended);
      return false;
    }
    if (ended.status !== "completed") {
      otherwise(order, ended);
      return false;
    }
    if (ended.result.isError !== true) {
      counts.finished += 1;
      return false;
    }
    const message = JSON.stringify(ended.result.content);
    return mayTryAgain(order, { message, clear: CLEAR.test(message) });
  };

  const otherwise = (order: string, ended: DetailedTask): void => {
    counts.endedOtherwise += 1;
    counts.unclear.push(`${order}: ${JSON.stringify(ended)}`);
  };

  const mayTryAgain = (
    order: string,
    { message, clear }: { readonly message: string; readonly clear: boolean },
  ): boolean => {
    if (clear) counts.clearErrors.set(message, (counts.clearErrors.get(message) ?? 0) + 1);
    else counts.unclear.push(`${order}: ${message}`);
    return clear;
  };

  return {
    async play(plan) {
      for (let number = 1; number <= MOST_ATTEMPTS; number++) {
        if (!(await playOnce(attempt(plan, number)))) return;
        // Cached by no client, and answered as soon as any process serves.
        await insist(
          () => mine.request("server/discover"),
          () => false,
        );
      }
      counts.unclear.push(`task ${plan.index} never came to an end of its own`);
    },
    async lookAgain() {
      for (const { id, ended } of ours) {
        if (JSON.stringify(await look(id)) !== JSON.stringify(ended)) counts.endedOtherwise += 1;
      }
    },
    async close() {
      await Promise.all([mine.close(), second.close(), stranger.close()]);
    },
  };
}
