import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createLoadMonitor, type EventLoopMonitor } from "../../../src/node.ts";
import { accept, type Handler, harness } from "./harness.ts";

/** A monitor that says what the test wants, and how often it was asked. */
function fakeMonitor(): { busy: boolean; asked: number; overloaded(): boolean } {
  return {
    busy: true,
    asked: 0,
    overloaded() {
      this.asked++;
      return this.busy;
    },
  };
}

/** A handler of so many steps; `ran` is what was really done. */
function steps(count: number, ran: number[]): Handler {
  return async (_args, ctx) => {
    const values: number[] = [];
    for (let n = 1; n <= count; n++) {
      values.push(
        await ctx.step(`step:${n}`, () => {
          ran.push(n);
          return n * n;
        }),
      );
    }
    return values;
  };
}

describe("rule 9, S19: automatic shedding", () => {
  test("an overloaded flow hands itself back after each new step, twice, then ends; no step runs again", async () => {
    const ran: number[] = [];
    const flow = harness(steps(5, ran), {}, undefined, { shedding: fakeMonitor() });
    const one = await flow.asks();
    expect(one).toEqual({ resultType: "input_required", requestState: expect.any(String) });
    expect(ran).toEqual([1]);
    const two = await flow.asks({ state: one.requestState });
    expect(ran).toEqual([1, 2]);
    expect(await flow.ends({ state: two.requestState })).toEqual([1, 4, 9, 16, 25]);
    expect(ran).toEqual([1, 2, 3, 4, 5]);
    expect(flow.events.filter(({ type }) => type === "shed")).toEqual([
      { type: "shed", target: "probe", round: 1 },
      { type: "shed", target: "probe", round: 2 },
    ]);
  });

  test("another instance, which has time, goes on to the end", async () => {
    const monitor = fakeMonitor();
    const ran: number[] = [];
    const flow = harness(steps(3, ran), {}, undefined, { shedding: monitor });
    const one = await flow.asks();
    monitor.busy = false;
    expect(await flow.ends({ state: one.requestState })).toEqual([1, 4, 9]);
    expect(ran).toEqual([1, 2, 3]);
  });

  test("tickets of ctx.yield and of shedding count together", async () => {
    const flow = harness(
      async (_args, ctx) => {
        await ctx.step("a", () => 1);
        await ctx.yield();
        await ctx.step("b", () => 2);
        await ctx.step("c", () => 3);
        await ctx.step("d", () => 4);
        await ctx.yield();
        return "done";
      },
      {},
      undefined,
      { shedding: fakeMonitor() },
    );
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState });
    expect(await flow.ends({ state: two.requestState })).toBe("done");
  });

  test("without new work nothing is shed, and nobody is asked", async () => {
    const monitor = fakeMonitor();
    const flow = harness(steps(1, []), {}, undefined, { shedding: monitor });
    expect(await flow.ends()).toEqual([1]);
    expect(monitor.asked).toBe(0);
  });

  test("an answered question goes on with its step; what came before is kept beside a new question", async () => {
    const ran: string[] = [];
    const flow = harness(
      async (_args, ctx) => {
        await ctx.step("before", () => ran.push("before"));
        const { name } = await ctx.elicit("name", { message: "Name?", schema: z.object({ name: z.string() }) });
        await ctx.step("after", () => ran.push("after"));
        return name;
      },
      {},
      undefined,
      { shedding: fakeMonitor() },
    );
    const one = await flow.asks();
    expect(Object.keys(one.inputRequests ?? {})).toEqual(["name"]);
    expect(await flow.ends({ state: one.requestState, responses: { name: accept({ name: "Ada" }) } })).toBe("Ada");
    expect(ran).toEqual(["before", "after"]);
  });

  test("steps under way are waited for and recorded; those beside them are left to the next round, as one ticket", async () => {
    const ran: string[] = [];
    const flow = harness(
      async (_args, ctx) => {
        const slow = ctx.step("slow", async () => {
          await sleep(20);
          return ran.push("slow");
        });
        await ctx.step("quick", () => ran.push("quick"));
        const more = [ctx.step("c", () => ran.push("c")), ctx.step("d", () => ran.push("d"))];
        await Promise.all([slow, ...more]);
        return "done";
      },
      {},
      undefined,
      { shedding: fakeMonitor() },
    );
    const one = await flow.asks();
    expect(ran).toEqual(["quick", "slow"]);
    expect(await flow.ends({ state: one.requestState })).toBe("done");
    expect(ran).toEqual(["quick", "slow", "c", "d"]);
    expect(flow.events.filter(({ type }) => type === "shed")).toHaveLength(1);
  });

  test("an effect that has not begun is left to the next round", async () => {
    const monitor = fakeMonitor();
    const charge = vi.fn(() => "charged");
    const flow = harness(
      async (_args, ctx) => {
        await ctx.step("look", () => 1);
        return await ctx.once("charge", { key: "order-1", keepFor: 1_000 }, charge);
      },
      {},
      undefined,
      { shedding: monitor },
    );
    const one = await flow.asks();
    expect(charge).not.toHaveBeenCalled();
    expect(await flow.ends({ state: one.requestState })).toBe("charged");
  });
});

describe("S19: the event loop's monitor", () => {
  let monitor: EventLoopMonitor | undefined;
  let busy: ReturnType<typeof setInterval> | undefined;
  afterEach(() => {
    clearInterval(busy);
    monitor?.close();
  });
  const burn = (ms: number): void => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  };

  test("a busy loop is seen, sheds a running flow, and is forgotten when it is over", async () => {
    monitor = createLoadMonitor({ maxDelayMs: 60, sampleMs: 300 });
    expect(monitor.overloaded()).toBe(false);
    const ran: number[] = [];
    const flow = harness(steps(4, ran), {}, undefined, { shedding: monitor });
    busy = setInterval(() => burn(120), 1);
    await vi.waitFor(() => expect(monitor?.overloaded()).toBe(true), { timeout: 10_000 });
    expect(monitor.delayMs).toBeGreaterThan(60);
    const one = await flow.asks();
    expect(ran).toEqual([1]);
    clearInterval(busy);
    await vi.waitFor(() => expect(monitor?.overloaded()).toBe(false), { timeout: 10_000 });
    expect(await flow.ends({ state: one.requestState })).toEqual([1, 4, 9, 16]);
    expect(ran).toEqual([1, 2, 3, 4]);
  });
});
