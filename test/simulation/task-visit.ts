// A task, followed by hand to its end.
import type { TaskHandle } from "../../src/client/index.ts";
import { type DetailedTask, RpcError, VolleyError } from "../../src/protocol/index.ts";
import { readTold } from "./patron.ts";
import type { Visit } from "./visit.ts";

/** How long a task may take once nothing goes wrong any more. */
const CALM_MS = 240_000;

export async function followTask(visit: Visit, task: TaskHandle, path: ReadonlyMap<string, unknown>): Promise<void> {
  const { patron } = visit;
  const { order, process, fleet } = patron;
  const { world, seen } = fleet;
  const { luck } = world;
  const known = seen.taskOf.get(order);
  if (known !== undefined && known !== task.id && !visit.forked) world.violate(`${order}: one flow has two tasks`);
  if (known !== undefined) return;
  seen.taskOf.set(order, task.id);
  world.note(order, "follows a task");
  /** By wire key, what was acknowledged; by author's key, what was given. */
  const acknowledged = new Set<string>();
  const given = new Map<string, unknown[]>([...path].map(([key, value]) => [key, [value]]));
  let calmSince: number | undefined;
  for (let look = 1; ; look++) {
    const now = await attempt(() => task.get());
    if (luck.calm) calmSince ??= world.time;
    if (calmSince !== undefined && world.time - calmSince > CALM_MS) {
      const held = world.lines.some(({ what }) => what.includes("is still running elsewhere"));
      return world.violate(`${order}: its task comes to no end (${now?.status})`, held ? "heartbeat" : "");
    }
    if (now !== undefined && isEnded(now)) return await hear(visit, now, given, task);
    if (now?.status === "input_required") {
      const responses: Record<string, { action: "accept"; content: object }> = {};
      for (const wire of Object.keys(now.inputRequests)) {
        if (acknowledged.has(wire)) world.violate(`${order}: ${wire} is open although its answer was acknowledged`);
        const [key = "", again] = wire.split("#");
        if (again !== undefined) world.violate(`${order}: ${key} is asked although it was answered`);
        const other = luck.strikes(`${order}/task/${look}/${wire}:other`, 0.1) ? ".other" : "";
        const value = `${order}.${wire}${other}`;
        given.set(key, [...(given.get(key) ?? []), value]);
        responses[wire] = { action: "accept", content: { value } };
      }
      world.note(order, `answers its task ${Object.keys(responses).join(", ")}`);
      const answered = await attempt(async () => {
        await task.answer(responses);
        return true;
      });
      if (answered) for (const wire of Object.keys(responses)) acknowledged.add(wire);
    }
    if (luck.strikes(`${order}/task/${look}:cancels`, 0.03)) {
      world.note(order, "cancels its task");
      await attempt(() => task.cancel());
    }
    await world.sleep(300 + luck.number(`${order}/look/${look}`) * 2_500, process);
  }

  async function attempt<T>(go: () => Promise<T>): Promise<T | undefined> {
    try {
      return await go();
    } catch (error) {
      const passes = VolleyError.is(error) || (RpcError.is(error) && error.code === -32603);
      if (!passes) world.violate(`${order}: its task: ${String(error)}`);
      return undefined;
    }
  }
}

async function hear(
  visit: Visit,
  task: DetailedTask,
  given: ReadonlyMap<string, readonly unknown[]>,
  handle: TaskHandle,
): Promise<void> {
  const { order, fleet } = visit.patron;
  const { world, seen } = fleet;
  world.note(order, `its task is ${task.status} ${"result" in task ? JSON.stringify(task.result.content) : ""}`);
  const ended = seen.ended.get(handle.id);
  if (ended?.status !== task.status) world.violate(`${order}: its task is ${task.status}, and was ${ended?.status}`);
  if (task.status === "failed") world.violate(`${order}: its task failed: ${task.error.message}`);
  if (task.status !== "completed") return;
  const told = readTold(task.result);
  if (told === undefined) return world.violate(`${order}: its task ended with ${JSON.stringify(task.result)}`);
  const path = new Map<string, unknown>();
  for (const [key, value] of Object.entries(told.said)) {
    if (given.get(key)?.includes(value)) path.set(key, value);
    else world.violate(`${order}: was told ${key} = ${String(value)}, which nobody has said`);
  }
  visit.heard.push({ order, path, told, askedAt: world.time, heardAt: world.time });
}

function isEnded({ status }: DetailedTask): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
