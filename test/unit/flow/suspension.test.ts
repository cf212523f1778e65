import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { VolleyError } from "../../../src/protocol/index.ts";
import { accept, harness } from "./harness.ts";

const Name = z.object({ name: z.string().min(1) });

describe("rule 1: suspension is out of band", () => {
  test("X1: a handler goes on from its first line and hands out what was answered before", async () => {
    const flow = harness(async (_args, ctx) => {
      const first = await ctx.elicit("first", { message: "First name?", schema: Name });
      const last = await ctx.elicit("last", { message: "Last name?", schema: Name });
      return `${first.name} ${last.name}`;
    });
    const one = await flow.asks();
    expect(one.inputRequests).toEqual({
      first: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "First name?",
          requestedSchema: {
            type: "object",
            properties: { name: { type: "string", minLength: 1 } },
            required: ["name"],
          },
        },
      },
    });
    const two = await flow.asks({ state: one.requestState, responses: { first: accept({ name: "Ada" }) } });
    expect(Object.keys(two.inputRequests ?? {})).toEqual(["last"]);
    expect(await flow.ends({ state: two.requestState, responses: { last: accept({ name: "Byron" }) } })).toBe(
      "Ada Byron",
    );
  });

  test("no catch or finally of the author runs because of a suspension", async () => {
    const ran: string[] = [];
    const flow = harness(async (_args, ctx) => {
      try {
        await ctx.elicit("name", { message: "Name?", schema: Name });
      } catch {
        ran.push("catch");
      } finally {
        ran.push("finally");
      }
    });
    await flow.asks();
    await sleep(10);
    expect(ran).toEqual([]);
  });

  test("a step that fails beside an open ask is no unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", listen);
    const flow = harness(async (_args, ctx) => {
      const failing = ctx.step("fails", async () => {
        await sleep(1);
        throw new Error("broken");
      });
      await ctx.elicit("name", { message: "Name?", schema: Name });
      await failing;
    });
    const reply = await flow.asks();
    await sleep(20);
    process.off("unhandledRejection", listen);
    expect(Object.keys(reply.inputRequests ?? {})).toEqual(["name"]);
    expect(unhandled).toEqual([]);
  });

  test("raw I/O beside an ask does not hold the round open; a step does", async () => {
    const flow = harness(async (_args, ctx) => {
      const raw = sleep(5_000);
      const step = ctx.step("slow", async () => {
        await sleep(20);
        return 7;
      });
      const { name } = await ctx.elicit("name", { message: "Name?", schema: Name });
      const value = await step;
      void raw;
      return `${name} ${value}`;
    });
    const started = performance.now();
    const one = await flow.asks();
    expect(performance.now() - started).toBeLessThan(2_000);
    let ran = 0;
    const value = await flow.ends({
      state: one.requestState,
      responses: { name: accept({ name: "Ada" }) },
      handler: async (_args, ctx) => {
        const step = ctx.step("slow", () => ++ran);
        const { name } = await ctx.elicit("name", { message: "Name?", schema: Name });
        return `${name} ${await step}`;
      },
    });
    expect(value).toBe("Ada 7");
    expect(ran).toBe(0);
  });

  test("a context call after the run was sealed never settles, starts nothing, and is counted", async () => {
    let started = 0;
    const late: string[] = [];
    const flow = harness(async (_args, ctx) => {
      void sleep(10).then(async () => {
        await ctx.step("late", () => ++started);
        late.push("settled");
      });
      await ctx.elicit("name", { message: "Name?", schema: Name });
    });
    await flow.asks();
    await sleep(40);
    expect(started).toBe(0);
    expect(late).toEqual([]);
    expect(flow.events.filter(({ type }) => type === "late_call")).toEqual([
      { type: "late_call", target: "probe", name: "late" },
    ]);
  });

  test("ctx.use releases at suspension and at the end, last acquired first", async () => {
    const log: string[] = [];
    const flow = harness(async (_args, ctx) => {
      await ctx.use(
        () => log.push("open a"),
        () => void log.push("close a"),
      );
      await ctx.use(
        () => log.push("open b"),
        () => void log.push("close b"),
      );
      await ctx.elicit("name", { message: "Name?", schema: Name });
      return "done";
    });
    const one = await flow.asks();
    expect(log).toEqual(["open a", "open b", "close b", "close a"]);
    log.length = 0;
    await flow.ends({ state: one.requestState, responses: { name: accept({ name: "Ada" }) } });
    expect(log).toEqual(["open a", "open b", "close b", "close a"]);
  });

  test("ctx.signal fires when the client goes, and not because of a suspension", async () => {
    let abort: (reason: Error) => void = () => {};
    const signals: AbortSignal[] = [];
    const flow = harness(async (_args, ctx) => {
      signals.push(ctx.signal);
      await ctx.elicit("name", { message: "Name?", schema: Name });
    });
    await flow.asks({
      onAbort: (listener) => {
        abort = listener;
      },
    });
    expect(signals[0]?.aborted).toBe(false);
    abort(new VolleyError("aborted", "gone"));
    expect(signals[0]?.aborted).toBe(true);
  });

  test("S10, case 43: a suspended run is collectable", async () => {
    const flow = harness(async (_args, ctx) => {
      await ctx.elicit("name", { message: "Name?", schema: Name });
    });
    const refs: WeakRef<object>[] = [];
    const probe = async (): Promise<void> => {
      const big = { block: new Uint8Array(1024) };
      refs.push(new WeakRef(big));
      await flow.asks({
        handler: async (_args, ctx) => {
          await ctx.elicit("name", { message: "Name?", schema: Name });
          return big;
        },
      });
    };
    for (let index = 0; index < 20; index++) await probe();
    await sleep(5);
    const { setFlagsFromString } = await import("node:v8");
    const { runInNewContext } = await import("node:vm");
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)();
    await sleep(5);
    (runInNewContext("gc") as () => void)();
    expect(refs.filter((ref) => ref.deref() !== undefined).length).toBeLessThanOrEqual(1);
  });
});
