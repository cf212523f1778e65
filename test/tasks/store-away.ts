// What an operator hears when the store of an engine goes away.
import { expect, vi } from "vitest";
import type { TraceEvent } from "../../src/index.ts";
import type { TaskEngine } from "../../src/tasks.ts";
import type { PrivateServer } from "../support/private-server.ts";
import { rig } from "../unit/tasks/harness.ts";

/** Takes the store away from an engine that is at work, and gives it back. */
export async function expectFaultTraced(store: PrivateServer, engine: TaskEngine): Promise<void> {
  const events: TraceEvent[] = [];
  await using on = await rig((server) => server.tool("greet", { task: "required" }, () => "hello"), {
    engine,
    server: { trace: (event) => void events.push(event) },
    // So that no sweep says it first.
    worker: { sweepMs: 600_000 },
  });
  await store.kill();
  try {
    await vi.waitFor(() => expect(events.filter(({ type }) => type === "fault")).not.toEqual([]), { timeout: 10_000 });
    expect(events.find(({ type }) => type === "fault")).toMatchObject({ target: "tasks", error: expect.any(Error) });
  } finally {
    await store.start();
  }
  const { taskId } = await on.call("greet");
  expect((await on.until(taskId, "completed")).result.content[0].text).toBe("hello");
}
