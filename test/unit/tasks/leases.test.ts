// Workers that have slept: the clocks of two rigs on one file say how long.
import { expect, test } from "vitest";
import type { Server } from "../../../src/index.ts";
import { hasSqlite, laterBy, rig } from "./harness.ts";

const LEASE_MS = 60_000;

function gate(): { readonly open: () => void; readonly passed: Promise<void> } {
  let open!: () => void;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

test.runIf(hasSqlite)(
  "T7: a worker that slept over its lease begins no step that another one may have done",
  async () => {
    const asleep = { ms: 0 };
    const wake = gate();
    const slept = gate();
    const ran: string[] = [];
    const tool =
      (worker: string, between: () => Promise<void>) =>
      (server: Server): void => {
        server.tool("job", { task: "required" }, async (_args, ctx) => {
          await ctx.step("first", () => void ran.push(`first in ${worker}`));
          await between();
          await ctx.step("second", () => void ran.push(`second in ${worker}`));
          return worker;
        });
      };
    const sleeper = tool("one", async () => {
      slept.open();
      await wake.passed;
    });
    const worker = { leaseMs: LEASE_MS, sweepMs: 20 };
    await using one = await rig(sleeper, { server: { clock: laterBy(asleep) }, worker });
    const { taskId } = await one.call("job");
    await slept.passed;
    asleep.ms = LEASE_MS + 1_000;
    const two = await rig(
      tool("two", async () => undefined),
      { path: one.path, server: { clock: laterBy(asleep) }, worker },
    );
    await using _ = two;
    await two.until(taskId, "completed");
    wake.open();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(ran).toEqual(["first in one", "second in two"]);
  },
);

test.runIf(hasSqlite)("a worker that slept and still has its task goes on with it", async () => {
  const asleep = { ms: 0 };
  const ran: string[] = [];
  await using one = await rig(
    (server) =>
      server.tool("job", { task: "required" }, async (_args, ctx) => {
        await ctx.step("first", () => void ran.push("first"));
        asleep.ms = LEASE_MS + 1_000;
        await ctx.step("second", () => void ran.push("second"));
        return "done";
      }),
    { server: { clock: laterBy(asleep) }, worker: { leaseMs: LEASE_MS, sweepMs: 10_000 } },
  );
  const { taskId } = await one.call("job");
  await one.until(taskId, "completed");
  expect(ran).toEqual(["first", "second"]);
  // It has taken the task again for as long as it needs.
  expect((await one.engine.store.read(taskId))?.epoch).toBe(1);
});
