// Tasks that our client follows by itself, as it does by default.
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskData } from "../../../src/client.ts";
import { insist, type ToolResult } from "../ending.ts";
import {
  type Attempt,
  createPerson,
  type DetailedTask,
  isEnded,
  type Played,
  readCallFailure,
  readResult,
  type Scene,
  type TaskHandle,
} from "./scene.ts";
import { POLL_MS } from "./task-process.ts";

/** How long after its first question a task is cancelled that is cancelled later. */
const LATER_MS = 400;

/** @param born hears of the task once there is one */
export async function follow(scene: Scene, { plan, args }: Attempt, born: (id: string) => void): Promise<Played> {
  const { mine, second, counts } = scene;
  const ending = new AbortController();
  scene.ask(
    createPerson(plan, counts, (fields) => {
      if (!fields.includes("size")) return;
      if (plan.cancel === "asked") ending.abort();
      if (plan.cancel === "later") setTimeout(() => ending.abort(), LATER_MS);
    }),
  );
  let data: TaskData | undefined;
  let told: ToolResult | undefined;
  let failure: unknown;
  try {
    told = await mine.callTool(plan.tool, args, {
      signal: ending.signal,
      cancelOnAbort: plan.client === "follow",
      onTask(_task, found) {
        if (data !== undefined) return;
        data = found;
        born(found.taskId);
        if (plan.cancel === "at_once" || plan.client === "move") ending.abort();
      },
    });
  } catch (error) {
    failure = error;
  }
  if (data === undefined) return failure === undefined ? readResult(told) : readCallFailure(failure);
  // That we end the following ourselves is no failure.
  if (ending.signal.aborted) failure = undefined;
  if (plan.client === "move") {
    counts.moves += 1;
    const found = second.task(JSON.stringify(data));
    told = await insist(
      () => found.result(),
      () => false,
    ).catch((error: unknown) => {
      failure = error;
      return undefined;
    });
  }
  // Nobody would answer the task any more.
  if (failure !== undefined) return { type: "failed", message: `following it ended with ${failure}`, clear: false };
  const handle = mine.task(data);
  const ended = await untilEnded(handle, plan.cancel !== undefined);
  // What following told is what everybody is told.
  if (told !== undefined && (ended.status !== "completed" || textOf(told) !== textOf(ended.result))) {
    counts.endedOtherwise += 1;
  }
  return { type: "task", handle, ended, kept: [] };
}

/** @param cancel the server may not have heard it: once more */
async function untilEnded(handle: TaskHandle, cancel: boolean): Promise<DetailedTask> {
  for (let look = 0; ; look++) {
    const task = await insist(
      () => handle.get(),
      () => false,
    );
    if (isEnded(task)) return task;
    if (cancel && look % 20 === 0) {
      await insist(
        () => handle.cancel(),
        () => false,
      );
    }
    await sleep(POLL_MS);
  }
}

function textOf({ content }: Pick<ToolResult, "content"> | Record<string, unknown>): string {
  return JSON.stringify(content);
}
