import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { ElicitRequestFormParams, InputRequiredResult } from "../../../src/protocol/index.ts";
import { accept, type Handler, harness } from "./harness.ts";

const Name = z.object({ name: z.string().min(2) });
const askName: Handler = async (_args, ctx) => (await ctx.elicit("name", { message: "Name?", schema: Name })).name;
const messageOf = (result: InputRequiredResult, key: string): string =>
  String((result.inputRequests?.[key]?.params as Partial<ElicitRequestFormParams> | undefined)?.message);

describe("rule 4: which answers count", () => {
  test("S15: keys that were not asked are ignored whatever they hold", async () => {
    const flow = harness(askName);
    const one = await flow.asks();
    const responses = { name: accept({ name: "Ada", extra: [1] }), other: 5, "": null, evil: { action: "accept" } };
    expect(await flow.ends({ state: one.requestState, responses })).toBe("Ada");
  });

  test("S15: a sealed answer is settled, a later one for it is ignored", async () => {
    const flow = harness(async (_args, ctx) => {
      const { name } = await ctx.elicit("name", { message: "Name?", schema: Name });
      await ctx.elicit("more", { message: "More?", schema: Name });
      return name;
    });
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState, responses: { name: accept({ name: "Ada" }) } });
    const responses = { name: accept({ name: "Eve" }), more: accept({ name: "ok" }) };
    expect(await flow.ends({ state: two.requestState, responses })).toBe("Ada");
  });

  test("S16: inputResponses or an answer that is no object is -32602", async () => {
    let ran = 0;
    const flow = harness(async (args, ctx) => {
      ran++;
      return askName(args, ctx);
    });
    const one = await flow.asks();
    ran = 0;
    for (const responses of [null, 5, "x", [], true]) {
      await expect(flow.play({ responses })).rejects.toMatchObject({ code: -32602 });
      await expect(flow.play({ state: one.requestState, responses })).rejects.toMatchObject({ code: -32602 });
    }
    for (const name of [null, 5, "x", []]) {
      const leg = { state: one.requestState, responses: { name } };
      await expect(flow.play(leg)).rejects.toMatchObject({ code: -32602 });
    }
    expect(ran).toBe(0);
  });

  test("S14: a missing or unusable answer is asked for again with the reason, three times, then it is an error", async () => {
    const flow = harness(askName);
    let round = await flow.asks();
    expect(messageOf(round, "name")).toBe("Name?");
    const bad: unknown[] = [{}, { name: { action: "accept" } }, { name: { role: "assistant" } }];
    for (const responses of bad) {
      round = await flow.asks({ state: round.requestState, responses });
      expect(messageOf(round, "name")).toBe("Name?\n\nNo usable answer came.");
    }
    await expect(flow.play({ state: round.requestState, responses: {} })).rejects.toMatchObject({ code: "no_answer" });
  });

  test("S17: an answer that does not fit the schema is asked for again with a reason a person can act on", async () => {
    const flow = harness(askName);
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState, responses: { name: accept({ name: "A" }) } });
    expect(messageOf(two, "name")).toMatch(/^Name\?\n\n"name".+/);
    expect(await flow.ends({ state: two.requestState, responses: { name: accept({ name: "Ada" }) } })).toBe("Ada");
  });

  test("S17: what only the author's schema can check holds too, sealed answers again on every run", async () => {
    let forbidden = "";
    const schema = z.object({ name: z.string().refine((name) => name !== forbidden, "That name is taken.") });
    const handler: Handler = async (_args, ctx) => {
      const { name } = await ctx.elicit("name", { message: "Name?", schema });
      await ctx.elicit("more", { message: "More?", schema: Name });
      return name;
    };
    const flow = harness(handler);
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState, responses: { name: accept({ name: "Ada" }) } });
    expect(Object.keys(two.inputRequests ?? {})).toEqual(["more"]);
    forbidden = "Ada";
    const three = await flow.asks({ state: two.requestState, responses: { more: accept({ name: "ok" }) } });
    expect(messageOf(three, "name")).toBe('Name?\n\n"name": That name is taken.');
  });

  test("case 40: answers without any state are not used, and the message says what was missing", async () => {
    const flow = harness(async (_args, ctx) => ((await ctx.confirm("sure", "Delete it?")) ? "deleted" : "kept"));
    const one = await flow.asks({ responses: { sure: accept({ confirm: true }) } });
    expect(messageOf(one, "sure")).toBe(
      "Delete it?\n\nAn answer came without requestState and was not used: send both together.",
    );
    expect(flow.events).toContainEqual({ type: "answers_without_state", target: "probe", keys: ["sure"] });
  });

  test('answersWithoutState: "accept" uses them, and excludes what must rest on proof', async () => {
    const options = { answersWithoutState: "accept" } as const;
    const responses = { name: accept({ name: "Ada" }), sure: accept({ confirm: true }) };
    expect(await harness(askName, options).ends({ responses })).toBe("Ada");
    const refused: Handler[] = [
      (_args, ctx) => ctx.confirm("sure", "Delete it?"),
      (_args, ctx) => ctx.elicit("name", { message: "Name?", schema: Name, pin: true }),
      (_args, ctx) => ctx.once("pay", () => 1),
    ];
    for (const handler of refused) {
      await expect(harness(handler, options).play({ responses })).rejects.toMatchObject({ code: "context_misused" });
    }
  });
});

describe("rule 5: declines and confirmations", () => {
  test.each([
    [{ action: "decline" }, "declined"],
    [{ action: "decline", content: null }, "declined"],
    [{ action: "decline", content: { name: 5 } }, "declined"],
    [{ action: "cancel", content: "junk" }, "cancelled"],
  ])("S18, case 29: %j is taken without a look at its content", async (answer, code) => {
    const flow = harness(askName);
    const one = await flow.asks();
    const ended = flow.ends({ state: one.requestState, responses: { name: answer } });
    await expect(ended).rejects.toMatchObject({ code, key: "name" });
  });

  test("S18: elicit.outcome gives the three ways as values", async () => {
    const flow = harness((_args, ctx) => ctx.elicit.outcome("name", { message: "Name?", schema: Name }));
    const one = await flow.asks();
    const with_ = (name: unknown): Promise<unknown> => flow.ends({ state: one.requestState, responses: { name } });
    expect(await with_(accept({ name: "Ada" }))).toEqual({ action: "accept", value: { name: "Ada" } });
    expect(await with_({ action: "decline" })).toEqual({ action: "decline" });
    expect(await with_({ action: "cancel" })).toEqual({ action: "cancel" });
  });

  test.each([
    [accept({ confirm: true }), true],
    [accept({ confirm: false }), false],
    [{ action: "decline", content: { confirm: true } }, false],
    [{ action: "cancel" }, false],
  ])("S18: confirm with %j is %s", async (answer, value) => {
    const flow = harness((_args, ctx) => ctx.confirm("sure", "Delete it?"));
    const one = await flow.asks();
    expect(await flow.ends({ state: one.requestState, responses: { sure: answer } })).toBe(value);
  });

  test.each([["yes"], [1], [null], ["true"]])("confirm with %j is asked again, never true", async (confirm) => {
    const flow = harness((_args, ctx) => ctx.confirm("sure", "Delete it?"));
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState, responses: { sure: accept({ confirm }) } });
    expect(messageOf(two, "sure")).toBe("Delete it?\n\nAnswer yes or no: confirm is true or false.");
  });
});

describe("rule 6: a question that changes", () => {
  test("another text keeps the answer, unless the question is pinned", async () => {
    const flow = harness(askName);
    const one = await flow.asks();
    const responses = { name: accept({ name: "Ada" }) };
    const changed: Handler = async (_args, ctx) =>
      (await ctx.elicit("name", { message: "Your name, please?", schema: Name })).name;
    expect(await flow.ends({ state: one.requestState, responses, handler: changed })).toBe("Ada");
    const pinned = harness((_args, ctx) => ctx.confirm("sure", "Delete 3 items?"));
    const first = await pinned.asks();
    const second = await pinned.asks({
      state: first.requestState,
      responses: { sure: accept({ confirm: true }) },
      handler: (_args, ctx) => ctx.confirm("sure", "Delete 300 items?"),
    });
    expect(messageOf(second, "sure")).toBe("Delete 300 items?\n\nThe question has changed since it was answered.");
  });

  test("another schema judges the old answer again", async () => {
    const flow = harness(askName);
    const one = await flow.asks();
    const strict = z.object({ name: z.string().min(10) });
    const two = await flow.asks({
      state: one.requestState,
      responses: { name: accept({ name: "Ada" }) },
      handler: async (_args, ctx) => (await ctx.elicit("name", { message: "Name?", schema: strict })).name,
    });
    expect(messageOf(two, "name")).toMatch(/^Name\?\n\n"name"/);
  });

  test("another kind under the same key is an error", async () => {
    const flow = harness(askName);
    const one = await flow.asks();
    const leg = {
      state: one.requestState,
      responses: { name: accept({ name: "Ada" }) },
      handler: ((_args, ctx) => ctx.listRoots("name")) as Handler,
    };
    await expect(flow.play(leg)).rejects.toMatchObject({
      code: "question_changed",
      message: '"name" was asked as form and is now roots. Use another key for another kind of question.',
    });
  });

  test("a pinned question that changes every round is an error that names the remedy", async () => {
    let asked = 0;
    const flow = harness((_args, ctx) => ctx.confirm("sure", `Attempt ${++asked}?`));
    let round = await flow.asks();
    const responses = { sure: accept({ confirm: true }) };
    round = await flow.asks({ state: round.requestState, responses });
    round = await flow.asks({ state: round.requestState, responses });
    await expect(flow.play({ state: round.requestState, responses })).rejects.toMatchObject({
      code: "question_changed",
      message:
        'The question "sure" is another one each round. Build what it says in a step: `await ctx.step("sure-text", ...)`.',
    });
  });
});

describe("rule 10 and 11: rounds and versions", () => {
  const many: Handler = async (_args, ctx) => {
    for (let index = 0; ; index++) await ctx.elicit(`n:${index}`, { message: "Next?", schema: Name });
  };

  test("the ninth input_required warns in development, the 33rd is an error", async () => {
    const flow = harness(many);
    let state: string | undefined;
    for (let round = 1; round <= 32; round++) {
      const responses = round === 1 ? undefined : { [`n:${round - 2}`]: accept({ name: "ok" }) };
      state = (await flow.asks({ state, responses })).requestState;
      const warned = flow.events.filter(({ type }) => type === "many_rounds").length;
      expect(warned).toBe(Math.max(0, round - 8));
    }
    const over = flow.play({ state, responses: { "n:31": accept({ name: "ok" }) } });
    await expect(over).rejects.toMatchObject({ code: "round_limit" });
  });

  test("S20: a newer handler goes on by key, restarts, or refuses, as its tool says", async () => {
    let loads = 0;
    const handler: Handler = async (_args, ctx) => {
      const load = await ctx.step("load", () => ++loads);
      const { name } = await ctx.elicit("name", { message: "Name?", schema: Name });
      await ctx.elicit("more", { message: "More?", schema: Name });
      return `${name} ${load}`;
    };
    const flow = harness(handler, { version: 1 });
    const one = await flow.asks();
    const leg = { state: one.requestState, responses: { name: accept({ name: "Ada" }) } };
    const next = async (whenOlder: "continue" | "restart" | "refuse"): Promise<string[]> =>
      Object.keys((await flow.asks({ ...leg, options: { version: 2, whenOlder } })).inputRequests ?? {});
    expect(await next("continue")).toEqual(["more"]);
    expect(await next("restart")).toEqual(["name"]);
    expect(loads).toBe(2);
    await expect(flow.play({ ...leg, options: { version: 2, whenOlder: "refuse" } })).rejects.toMatchObject({
      code: -32602,
      data: { reason: "state_refused" },
    });
    const newer = await flow.asks({ options: { version: 2 } });
    const kept = await flow.asks({ ...leg, state: newer.requestState, options: { version: 1, whenOlder: "refuse" } });
    expect(Object.keys(kept.inputRequests ?? {})).toEqual(["more"]);
  });
});
