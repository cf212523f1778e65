// Another user, to whom a task must look like one that never was.
import { randomBytes } from "node:crypto";
import type { Client } from "../../../src/client.ts";
import { RpcError } from "../../../src/index.ts";
import { insist } from "../ending.ts";
import type { TaskCounts } from "./counts.ts";
import { accept } from "./scene.ts";
import type { TaskPlan } from "./schedule.ts";

/** Tries all there is, and holds what comes back against what an unknown id gets. */
export async function tryAsStranger(stranger: Client, id: string, plan: TaskPlan, counts: TaskCounts): Promise<void> {
  const unknown = randomBytes(32).toString("base64url");
  const { size = "", stars = "" } = plan.others;
  const inputResponses = { size: accept({ size }), stars: accept({ stars }) };
  const tries: ((taskId: string) => Promise<string>)[] = [
    (taskId) => refusal(stranger, "tasks/get", { taskId }),
    (taskId) => refusal(stranger, "tasks/update", { taskId, inputResponses }),
    (taskId) => refusal(stranger, "tasks/cancel", { taskId }),
    (taskId) => watched(stranger, taskId),
  ];
  for (const attempt of tries) {
    counts.foreign += 1;
    if ((await attempt(id)) !== (await attempt(unknown))) counts.foreignAccepted += 1;
  }
}

/** The error, as its receiver sees it; a success is like no other. */
async function refusal(client: Client, method: string, params: Record<string, unknown>): Promise<string> {
  try {
    const result = await insist(
      () => client.request(method, params),
      () => false,
    );
    return `accepted ${params.taskId}: ${JSON.stringify(result)}`;
  } catch (error) {
    if (!RpcError.is(error)) throw error;
    const { code, message, data } = error;
    return JSON.stringify({ code, message, data });
  }
}

/** What the server agrees to tell of. */
async function watched(client: Client, taskId: string): Promise<string> {
  return await insist(
    async () => {
      for await (const event of client.subscribe({ taskIds: [taskId] })) {
        if (event.type === "acknowledged") return JSON.stringify(event.notifications);
      }
      return "nothing";
    },
    () => false,
  );
}
