import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Context } from "../../../src/flow/index.ts";
import { accept, type Handler, harness } from "./harness.ts";

const Name = z.object({ name: z.string().min(1) });
const name = (ctx: Context, key: string): Promise<{ name: string }> =>
  ctx.elicit(key, { message: `${key}?`, schema: Name });

describe("rule 2: keyed, never positional", () => {
  test.each<[string, Handler, string]>([
    ["two questions under one key", async (_a, ctx) => [await name(ctx, "x"), await name(ctx, "x")], "x"],
    ["two steps under one name", async (_a, ctx) => [await ctx.step("x", () => 1), await ctx.step("x", () => 2)], "x"],
    ["a clock read twice", async (_a, ctx) => [await ctx.now("x"), await ctx.now("x")], "x"],
  ])("S4: %s are an author's error that names the remedy", async (_title, handler, key) => {
    const flow = harness(handler);
    const run = async (): Promise<unknown> => {
      const reply = await flow.play();
      if (reply.type === "complete") return reply.value;
      return flow.play({ state: reply.result.requestState, responses: { x: accept({ name: "Ada" }) } });
    };
    await expect(run()).rejects.toMatchObject({
      code: "ask_reused",
      message: `The name "${key}" was used twice in one run of tool "probe". In a loop write \`${key}:\${id}\`.`,
    });
  });

  test("a context call inside a step is refused, also after an await in it", async () => {
    const flow = harness(async (_args, ctx) => {
      await ctx.step("outer", async () => {
        await sleep(1);
        return name(ctx, "inner");
      });
    });
    await expect(flow.play()).rejects.toMatchObject({
      code: "context_misused",
      message: '"inner" was called inside "outer". Steps and effects may not use the context: move the call out of it.',
    });
  });

  test.each<[string, Handler]>([
    ["an ask", (_a, ctx) => void name(ctx, "forgotten")],
    ["a step", (_a, ctx) => void ctx.step("forgotten", () => 1)],
  ])("%s that nobody awaited is an error that names its key", async (_title, handler) => {
    await expect(harness(handler).play()).rejects.toMatchObject({
      code: "context_misused",
      message: 'The handler of tool "probe" returned without awaiting "forgotten". Put `await` before the call.',
    });
  });

  test("now, uuid and random are remembered under their names", async () => {
    const flow = harness(async (_args, ctx) => {
      const values = [await ctx.now("when"), await ctx.uuid("id"), await ctx.random("dice")];
      await name(ctx, "n");
      return values;
    });
    const one = await flow.asks();
    await flow.clock.advance(60_000);
    const ended = (await flow.ends({ state: one.requestState, responses: { n: accept({ name: "a" }) } })) as [
      number,
      string,
      number,
    ];
    expect(ended[0]).toBe(Date.UTC(2026, 6, 28));
    expect(ended[1]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ended[2]).toBeGreaterThanOrEqual(0);
    expect(ended[2]).toBeLessThan(1);
  });

  test("case 23: __proto__ and constructor are keys like any other", async () => {
    const flow = harness(async (_args, ctx) => {
      const [a, b] = await Promise.all([name(ctx, "__proto__"), name(ctx, "constructor")]);
      return `${a.name} ${b.name} ${await ctx.step("__proto__", () => "step")}`;
    });
    const one = await flow.asks();
    expect(Object.keys(one.inputRequests ?? {})).toEqual(["__proto__", "constructor"]);
    const responses = JSON.parse(
      '{"__proto__":{"action":"accept","content":{"name":"a"}},"constructor":{"action":"accept","content":{"name":"b"}}}',
    );
    expect(await flow.ends({ state: one.requestState, responses })).toBe("a b step");
    expect(({} as Record<string, unknown>).action).toBeUndefined();
  });
});

describe("rule 3: asked together, handed out as they arrived", () => {
  test("X2: independent asks awaited together go out in one round", async () => {
    const flow = harness(async (_args, ctx) => {
      const [a, b] = await Promise.all([name(ctx, "a"), name(ctx, "b")]);
      return a.name + b.name;
    });
    const one = await flow.asks();
    expect(Object.keys(one.inputRequests ?? {})).toEqual(["a", "b"]);
    const responses = { a: accept({ name: "1" }), b: accept({ name: "2" }) };
    expect(await flow.ends({ state: one.requestState, responses })).toBe("12");
  });

  test("Promise.race picks the same winner in every later round", async () => {
    const handler: Handler = async (_args, ctx) => {
      const fastest = await Promise.race([
        ctx.step("slow", () => sleep(30, "slow")),
        ctx.step("fast", () => sleep(5, "fast")),
      ]);
      await ctx.step("wait", () => sleep(50, null));
      await name(ctx, "n");
      return fastest;
    };
    const flow = harness(handler);
    const one = await flow.asks();
    expect(await flow.ends({ state: one.requestState, responses: { n: accept({ name: "x" }) } })).toBe("fast");
  });

  test("an answer that came a round earlier wins the race again", async () => {
    const handler: Handler = async (_args, ctx) => {
      const winner = await Promise.race([
        name(ctx, "second").then(() => "second"),
        name(ctx, "first").then(() => "first"),
      ]);
      await name(ctx, "end");
      return winner;
    };
    const flow = harness(handler);
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState, responses: { first: accept({ name: "x" }) } });
    expect(Object.keys(two.inputRequests ?? {}).sort()).toEqual(["end", "second"]);
    const responses = { second: accept({ name: "y" }), end: accept({ name: "z" }) };
    expect(await flow.ends({ state: two.requestState, responses })).toBe("first");
  });

  test("ctx.race withdraws the losers from later rounds", async () => {
    const flow = harness(async (_args, ctx) => {
      const first = await ctx.race({ a: () => name(ctx, "a"), b: () => name(ctx, "b") });
      await name(ctx, "end");
      return `${first.winner}: ${first.value.name}`;
    });
    const one = await flow.asks();
    expect(Object.keys(one.inputRequests ?? {})).toEqual(["a", "b"]);
    const two = await flow.asks({ state: one.requestState, responses: { b: accept({ name: "B" }) } });
    expect(Object.keys(two.inputRequests ?? {})).toEqual(["end"]);
    expect(await flow.ends({ state: two.requestState, responses: { end: accept({ name: "x" }) } })).toBe("b: B");
  });
});

describe("rule 7: steps", () => {
  test("a step is done once and gives back its JSON on the first run too", async () => {
    let ran = 0;
    const flow = harness(async (_args, ctx) => {
      const value = await ctx.step("load", () => ({ at: "now", list: [1, { deep: true }], n: ++ran }));
      const nothing = await ctx.step("void", () => undefined);
      await name(ctx, "n");
      return { value, nothing };
    });
    const one = await flow.asks();
    const ended = await flow.ends({ state: one.requestState, responses: { n: accept({ name: "x" }) } });
    expect(ended).toEqual({ value: { at: "now", list: [1, { deep: true }], n: 1 }, nothing: undefined });
    expect(ran).toBe(1);
  });

  test.each<[string, unknown, string]>([
    ["a function", () => 1, "a value of type function"],
    ["-0", -0, "-0"],
    ["NaN", { deep: [Number.NaN] }, "NaN at deep[0]"],
    ["a nested undefined", { a: undefined }, "a value of type undefined at a"],
    ["a Date", new Date(0), "an object with its own JSON form (Date)"],
    ["a Map", new Map(), "an instance of Map"],
    ["a bigint", 1n, "a value of type bigint"],
    ["a lone surrogate", "\ud800", "a string with a lone surrogate"],
  ])("%s is refused at the step, by name", async (_title, value, what) => {
    const flow = harness(async (_args, ctx) => void (await ctx.step("bad", () => value)));
    await expect(flow.play()).rejects.toMatchObject({
      code: "json_unsupported",
      message: `"bad" gave back ${what}, which JSON does not carry. Return plain JSON: strings, finite numbers, booleans, null, arrays and plain objects.`,
    });
  });

  test("a value over the state's limit is an error at the step that names the way out", async () => {
    const flow = harness(async (_args, ctx) => void (await ctx.step("big", () => "x".repeat(70_000))));
    await expect(flow.play()).rejects.toMatchObject({
      code: "state_too_large",
      message: expect.stringContaining('"big"'),
    });
  });

  test("steps that run when the round's time is up: what is recorded is sealed with the open asks", async () => {
    const handler: Handler = async (_args, ctx) => {
      const stuck = ctx.step("stuck", () => new Promise(() => {}));
      const value = await ctx.step("done", () => 7);
      const { name: answer } = await name(ctx, "n");
      void stuck;
      return `${answer} ${value}`;
    };
    const flow = harness(handler);
    const playing = flow.asks();
    await flow.clock.advance(30_000);
    const one = await playing;
    expect(Object.keys(one.inputRequests ?? {})).toEqual(["n"]);
  });

  test("with nothing asked and something recorded the round ends with a ticket, else with an error", async () => {
    const flow = harness(async (_args, ctx) => {
      await ctx.step("done", () => 7);
      return ctx.step("stuck", () => new Promise(() => {}));
    });
    const playing = flow.asks();
    await flow.clock.advance(30_000);
    const one = await playing;
    expect(one.inputRequests).toBeUndefined();
    expect(one.requestState).toMatch(/^v1\./);
    const stuck = flow.play({ handler: (_args, ctx) => ctx.step("stuck", () => new Promise(() => {})) });
    const failing = expect(stuck).rejects.toMatchObject({ code: "timeout" });
    await flow.clock.advance(30_000);
    await failing;
  });

  test("the idempotency key is the same on a retry and another for other answers", async () => {
    const keys: string[] = [];
    const handler: Handler = async (_args, ctx) => {
      const { name: answer } = await name(ctx, "n");
      await ctx.step("send", ({ idempotencyKey }) => void keys.push(idempotencyKey));
      return answer;
    };
    const flow = harness(handler);
    const one = await flow.asks();
    for (const answer of ["a", "a", "b"]) {
      await flow.ends({ state: one.requestState, responses: { n: accept({ name: answer }) } });
    }
    expect(keys[0]).toMatch(/^[\w-]{43}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });
});

describe("rule 9: yield", () => {
  test("S19: a ticket carries what was recorded; never without something new, at most twice a flow", async () => {
    const flow = harness(async (_args, ctx) => {
      await ctx.yield();
      for (const part of ["a", "b", "c"]) {
        await ctx.step(part, () => part);
        await ctx.yield();
      }
      return "done";
    });
    const one = await flow.asks();
    expect(one).toEqual({ resultType: "input_required", requestState: expect.stringMatching(/^v1\./) });
    const two = await flow.asks({ state: one.requestState });
    expect(await flow.ends({ state: two.requestState })).toBe("done");
  });
});
