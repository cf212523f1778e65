// What a round answers with "try again", a task tries again by itself.
import { expect, test, vi } from "vitest";
import type { Ledger, Server, TraceEvent } from "../../../src/index.ts";
import { createMemoryLedger } from "../../../src/ledger/memory.ts";
import { hasSqlite, laterBy, rig } from "./harness.ts";

const HOUR = 3_600_000;

/** A shop whose steps and effects say that they ran. */
function shop(ran: string[]) {
  return (server: Server): void => {
    server.tool("order", { task: "required" }, async (_args, ctx) => {
      await ctx.step("pick", () => void ran.push("pick"));
      return await ctx.once("pay", () => {
        ran.push("pay");
        return "paid";
      });
    });
  };
}

test.skipIf(!hasSqlite)("T7: a task waits for a ledger that does not answer, and does no step again", async () => {
  const ran: string[] = [];
  const events: TraceEvent[] = [];
  const clock = { ms: 0 };
  const memory = createMemoryLedger();
  let gone = true;
  let claims = 0;
  const ledger: Ledger = {
    ...memory,
    async claim(claim) {
      claims++;
      if (gone) throw new Error("nobody is there");
      return memory.claim(claim);
    },
  };
  await using on = await rig(shop(ran), {
    server: { singleInstance: true, ledger, clock: laterBy(clock), trace: (event) => void events.push(event) },
    worker: { sweepMs: 20 },
  });
  const { taskId } = await on.call("order");
  await vi.waitFor(() => expect(claims).toBe(1));
  clock.ms += 5_100;
  await vi.waitFor(() => expect(claims).toBe(2));
  expect(await on.get(taskId)).toMatchObject({ status: "working" });
  expect(events.filter(({ type }) => type === "fault")).toMatchObject([
    { target: "order", error: { code: "ledger_unavailable" } },
    { target: "order", error: { code: "ledger_unavailable" } },
  ]);
  gone = false;
  clock.ms += 5_100;
  expect((await on.until(taskId, "completed")).result.content[0].text).toBe("paid");
  expect(ran).toEqual(["pick", "pay"]);
});

test.skipIf(!hasSqlite)("S23: a task waits until its user may have more effects", async () => {
  const ran: string[] = [];
  const clock = { ms: 0 };
  await using on = await rig(shop(ran), {
    server: { singleInstance: true, limits: { anonymousEffectsPerHour: 1 }, clock: laterBy(clock) },
    tasks: { ttlMs: 10 * HOUR },
    worker: { sweepMs: 20 },
  });
  const first = await on.call("order");
  await on.until(first.taskId, "completed");
  const { taskId } = await on.call("order");
  await vi.waitFor(() => expect(ran).toEqual(["pick", "pay", "pick"]));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await on.get(taskId)).toMatchObject({ status: "working" });
  clock.ms += HOUR - 10_000;
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await on.get(taskId)).toMatchObject({ status: "working" });
  clock.ms += 20_000;
  expect((await on.until(taskId, "completed")).result.content[0].text).toBe("paid");
});
