// notifications/tasks over subscriptions/listen.
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { coreOf } from "../../src/server/index.ts";
import { createWorker } from "../../src/tasks.ts";
import { MemoryCall } from "../unit/server/memory-call.ts";
import { ALL, hasSqlite, type Rig, rig, TASKS } from "../unit/tasks/harness.ts";
import { message } from "./http-entry.ts";

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const Name = z.object({ name: z.string() });

async function listen(
  on: Rig,
  notifications: object,
  can: object = ALL,
): Promise<{ call: MemoryCall; reply: unknown }> {
  const call = new MemoryCall();
  const body = message(
    "subscriptions/listen",
    { notifications },
    { "io.modelcontextprotocol/clientCapabilities": can },
  );
  const reply = Promise.resolve(coreOf(on.server).handle(body, call));
  await vi.waitFor(() => expect(call.sent.length).toBeGreaterThan(0), 5_000);
  return { call, reply };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into any message
const tasksOf = (call: MemoryCall): any[] => call.sent.filter((sent: any) => sent.method === "notifications/tasks");

describe.skipIf(!hasSqlite)("notifications/tasks", () => {
  test("T5: the whole task comes at once and at each change, as tasks/get would have it, and nothing else", async () => {
    await using on = await rig((server) =>
      server.tool("ask", { task: "required" }, async (_args, ctx) => {
        ctx.progress(1, 2, "Asking");
        ctx.log("error", "never here");
        return (await ctx.elicit("name", { message: "Who?", schema: Name })).name;
      }),
    );
    const { taskId } = await on.call("ask");
    const asked = await on.until(taskId, "input_required");
    const { call } = await listen(on, { taskIds: [taskId, "unknown", taskId] });
    expect(call.sent[0]).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { _meta: { [SUBSCRIPTION]: 1 }, notifications: { taskIds: [taskId] } },
    });
    await vi.waitFor(() => expect(tasksOf(call).length).toBe(1), 5_000);
    const { resultType, _meta, ...task } = asked;
    expect(tasksOf(call)[0]).toMatchObject({
      jsonrpc: "2.0",
      method: "notifications/tasks",
      params: { ...task, statusMessage: "Asking", lastUpdatedAt: expect.any(String), _meta: { [SUBSCRIPTION]: 1 } },
    });
    await on.update(taskId, { name: { action: "accept", content: { name: "Ann" } } });
    await vi.waitFor(() => expect(tasksOf(call).at(-1).params.status).toBe("completed"), 5_000);
    const statuses = tasksOf(call).map(({ params }) => params.status);
    expect(statuses).toEqual(["input_required", "working", "completed"]);
    expect(tasksOf(call).at(-1).params.result.content).toEqual([{ type: "text", text: "Ann" }]);
    expect(tasksOf(call).at(-1).params.resultType).toBeUndefined();
    const methods = new Set(call.sent.map((sent) => (sent as { method: string }).method));
    expect([...methods]).toEqual(["notifications/subscriptions/acknowledged", "notifications/tasks"]);
  });

  test("T9: taskIds without the capability is -32021; other subscriptions do not need it", async () => {
    await using on = await rig((server) => server.tool("ask", { task: "required" }, () => "done"));
    const refused = await on.ask("subscriptions/listen", { notifications: { taskIds: ["x"] } }, { can: {} });
    expect(refused.error).toMatchObject({ code: -32021, data: { requiredCapabilities: TASKS } });
    const { call } = await listen(on, { toolsListChanged: true }, {});
    expect(call.sent[0]).toMatchObject({ params: { notifications: { toolsListChanged: true } } });
  });

  test("T4: another principal's task is not watched", async () => {
    await using on = await rig((server) => server.tool("ask", { task: "required" }, () => "done"));
    const principal = { type: "user", issuer: "https://a", subject: "alice" } as const;
    const { result } = await on.ask("tools/call", { name: "ask" }, { principal });
    const { call } = await listen(on, { taskIds: [result.taskId] });
    expect(call.sent).toEqual([
      expect.objectContaining({ params: expect.objectContaining({ notifications: { taskIds: [] } }) }),
    ]);
  });

  test("T5: changes that another process makes come too, and a slow reader gets the newest state alone", async () => {
    await using on = await rig((server) => server.tool("ask", { task: "required" }, () => "done"), { worker: false });
    await using other = await rig((server) => server.tool("ask", { task: "required" }, () => "done"), {
      path: on.path,
      worker: false,
    });
    const { taskId } = await on.call("ask");
    const { call } = await listen(on, { taskIds: [taskId] });
    await vi.waitFor(() => expect(tasksOf(call).length).toBe(1), 5_000);
    call.slow = true;
    on.server.toolsChanged(); // no filter for it
    call.blocked = true;
    const worker = await createWorker(other.server, { engine: other.engine, sweepMs: 50 });
    await other.until(taskId, "completed");
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(tasksOf(call).length).toBe(1);
    call.catchUp();
    expect(tasksOf(call).map(({ params }) => params.status)).toEqual(["working", "completed"]);
    await worker.close();
  });
});
