import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Context, FlowOptions } from "../../../src/flow/index.ts";
import { accept, type Handler, type Harness, harness } from "./harness.ts";

const SCHEMA = z.object({ n: z.number() });
const one = accept({ n: 1 });
const form = { message: "Which?", schema: SCHEMA };

const told = (flow: Harness): unknown[] =>
  flow.events.flatMap((event) =>
    event.type === "name_changed" ? [event.names.map(({ type, name }) => `${type} ${name}`)] : [],
  );

/** Plays to the end, with an answer to every question; what was told of names. */
async function play(handler: Handler, options: FlowOptions = {}): Promise<{ told: unknown[]; rounds: number }> {
  const flow = harness(handler, options);
  let reply = await flow.play();
  let rounds = 1;
  for (; reply.type === "input_required" && rounds < 10; rounds++) {
    const { inputRequests = {}, requestState } = reply.result;
    const responses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, one]));
    reply = await flow.play({ state: requestState, responses });
  }
  return { told: told(flow), rounds };
}

test("rule 12: a key that is another in each round is told, once a round", async () => {
  let n = 0;
  const { told, rounds } = await play((_args, ctx) => ctx.elicit(`a${++n}`, form));
  expect(rounds).toBe(10);
  expect(told.slice(0, 3)).toEqual([["ask a1"], ["ask a1", "ask a2"], ["ask a1", "ask a2", "ask a3"]]);
});

test("rule 12: a step whose name is another in each round is told", async () => {
  let n = 0;
  const { told } = await play(async (_args, ctx) => {
    await ctx.step(`s${++n}`, () => n);
    await ctx.elicit("a", form);
    await ctx.elicit("b", form);
  });
  expect(told).toEqual([["step s1"]]);
});

const QUIET: Record<string, (ctx: Context) => Promise<unknown>> = {
  "a line of questions and steps": async (ctx) => {
    await ctx.step("s", () => 1);
    await ctx.elicit("a", form);
    await ctx.now("t");
    await ctx.elicit("b", form);
  },
  "questions together": async (ctx) => {
    await Promise.all([ctx.elicit("a", form), ctx.elicit("b", form), ctx.step("s", () => 1)]);
    await ctx.elicit("c", form);
  },
  "the loser of a race": async (ctx) => {
    await ctx.race({ a: () => ctx.elicit("a", form), b: () => ctx.elicit("b", form) });
    await ctx.elicit("c", form);
    await ctx.elicit("d", form);
  },
  "a question that a step beats": async (ctx) => {
    await ctx.race({ a: () => ctx.elicit("a", form), s: () => ctx.step("s", () => 1) });
    await ctx.elicit("b", form);
    await ctx.elicit("c", form);
  },
  "a loser that goes on": async (ctx) => {
    await ctx.race({
      a: () => ctx.elicit("a", form).then(() => ctx.step("a2", () => 1)),
      b: () => ctx.elicit("b", form).then(() => ctx.step("b2", () => 1)),
    });
    await ctx.elicit("c", form);
    await ctx.elicit("d", form);
  },
  "a step behind other I/O, which a later round does not wait for": async (ctx) => {
    const beside = async (): Promise<void> => {
      await delay(10);
      await ctx.step("beside", () => 1);
    };
    const line = async (): Promise<void> => {
      await ctx.step("long", () => delay(50, 1));
      await ctx.elicit("a", form);
      await ctx.elicit("b", form);
    };
    await Promise.all([beside(), line()]);
  },
  "a branch that an answer decides": async (ctx) => {
    const { n } = await ctx.elicit("a", form);
    await ctx.elicit(n === 1 ? "one" : "other", form);
    await ctx.elicit("b", form);
  },
};
test.each(Object.entries(QUIET))("rule 12: nothing is told of %s", async (_what, handler) => {
  const { told } = await play((_args, ctx) => handler(ctx));
  expect(told).toEqual([]);
});

test("rule 12: nothing is told of what lies behind a question that is asked again", async () => {
  let text = "Sure?";
  const flow = harness(async (_args, ctx) => {
    await ctx.confirm("sure", text);
    await ctx.step("s", () => 1);
    await ctx.elicit("a", form);
    await ctx.elicit("b", form);
  });
  const first = await flow.asks();
  const second = await flow.asks({ state: first.requestState, responses: { sure: accept({ confirm: true }) } });
  expect(Object.keys(second.inputRequests ?? {})).toEqual(["a"]);
  text = "Really?";
  const third = await flow.asks({ state: second.requestState, responses: { a: one } });
  expect(Object.keys(third.inputRequests ?? {})).toEqual(["sure"]);
  expect(told(flow)).toEqual([]);
});

test("rule 12: nothing is told of answers that only some of were given", async () => {
  const flow = harness(async (_args, ctx) => {
    const [first] = await Promise.all([ctx.elicit("a", form), ctx.elicit("b", form)]);
    return first;
  });
  const first = await flow.asks();
  await flow.asks({ state: first.requestState, responses: { a: one } });
  expect(told(flow)).toEqual([]);
});

test.each(["continue", "restart"] as const)(
  "rule 12, S20: nothing is told of what an older version asked (%s)",
  async (whenOlder) => {
    const older: Handler = async (_args, ctx) => {
      await ctx.step("old step", () => 1);
      await ctx.elicit("old", form);
      await ctx.elicit("old last", form);
    };
    const newer: Handler = async (_args, ctx) => {
      await ctx.step("new step", () => 1);
      await ctx.elicit("new", form);
      await ctx.elicit("last", form);
    };
    const flow = harness(older);
    const options = { version: 2, whenOlder };
    const first = await flow.asks();
    const second = await flow.asks({ state: first.requestState, responses: { old: one }, handler: newer, options });
    await flow.asks({ state: second.requestState, responses: { new: one }, handler: newer, options });
    // An instance of the older version gets it in between, and one of the newer again.
    const third = await flow.asks({ state: second.requestState, responses: { new: one } });
    await flow.asks({ state: third.requestState, responses: { "old last": one }, handler: newer, options });
    expect(told(flow)).toEqual([]);
  },
);

test("rule 12: a question asked for the fourth time is told", async () => {
  const flow = harness((_args, ctx) => ctx.elicit("size", form));
  let { requestState } = await flow.asks();
  for (let again = 0; again < 3; again++) ({ requestState } = await flow.asks({ state: requestState, responses: {} }));
  expect(flow.events.filter(({ type }) => type === "asked_often")).toEqual([
    { type: "asked_often", within: undefined, target: "probe", key: "size", times: 4 },
  ]);
});

test("rule 12: a state that another key sealed is traced with both", async () => {
  const stranger = harness((_args, ctx) => ctx.elicit("size", form));
  const { requestState } = await stranger.asks();
  const flow = harness((_args, ctx) => ctx.elicit("size", form));
  await expect(flow.play({ state: requestState })).rejects.toMatchObject({ data: { reason: "state_refused" } });
  expect(flow.events).toEqual([
    {
      type: "state_refused",
      reason: "kid",
      method: "tools/call",
      target: "probe",
      kid: requestState?.slice(3, 11),
      kids: [expect.stringMatching(/^[\w-]{8}$/)],
    },
  ]);
});
