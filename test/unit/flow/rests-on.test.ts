// What was done is compared with what it rested on, whichever way it comes back: by the journal, the ledger, or a restart.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Context } from "../../../src/flow/index.ts";
import type { Claim, Ledger } from "../../../src/ledger/ledger.ts";
import { createMemoryLedger } from "../../../src/ledger/memory.ts";
import type { Principal } from "../../../src/state/index.ts";
import { ALL, accept, type Handler, harness } from "./harness.ts";

const N = z.object({ n: z.number() });
const number = (ctx: Context, key: string): Promise<{ n: number }> =>
  ctx.elicit(key, { message: `${key}?`, schema: N });
const answer = (key: string, n: number): Record<string, unknown> => ({ [key]: accept({ n }) });
const RESTART = { version: 2, whenOlder: "restart" } as const;
const KEY = { key: "order-1", keepFor: 60_000 };

describe("the same answers are the same, however they are spelled", () => {
  const Two = z.object({ a: z.number(), b: z.number() });
  const handler: Handler = async (_args, ctx) => {
    const { a, b } = await ctx.elicit("x", { message: "X?", schema: Two });
    return await ctx.once("pay", () => a + b);
  };

  test("attack 6: with the keys in another order they get the recorded value", async () => {
    const flow = harness(handler);
    const { requestState: state } = await flow.asks();
    expect(await flow.ends({ state, responses: { x: accept({ a: 1, b: 2 }) } })).toBe(3);
    expect(await flow.ends({ state, responses: { x: { content: { b: 2, a: 1 }, action: "accept" } } })).toBe(3);
    await expect(flow.play({ state, responses: { x: accept({ a: 1, b: 3 }) } })).rejects.toMatchObject({
      code: "conflict",
    });
  });
});

describe("the same answers hold what was asked for, and no more", () => {
  const handler: Handler = async (_args, ctx) => {
    const { n } = await number(ctx, "x");
    return await ctx.once("pay", () => n);
  };

  test("attack 6, S15: a field that no form has makes no other answer, and no state carries it", async () => {
    const flow = harness(handler);
    const { requestState: state } = await flow.asks();
    expect(await flow.ends({ state, responses: answer("x", 1) })).toBe(1);
    expect(await flow.ends({ state, responses: { x: accept({ n: 1, extra: "ignored" }) } })).toBe(1);
    expect(await flow.ends({ state, responses: { x: accept({ n: 1, extra: { deep: ["ignored"] } }) } })).toBe(1);

    const long = harness(async (_args, ctx) => {
      await number(ctx, "x");
      await number(ctx, "y");
    });
    const size = async (more: object): Promise<number> => {
      const one = await long.asks();
      const two = await long.asks({ state: one.requestState, responses: { x: accept({ n: 1, ...more }) } });
      return two.requestState?.length ?? 0;
    };
    expect(await size({ extra: "x".repeat(10_000) })).toBe(await size({}));
  });

  test("attack 6: a step's idempotency key is the same for the same answer", async () => {
    const keys: string[] = [];
    const flow = harness(async (_args, ctx) => {
      await ctx.elicit("x", { message: "X?", schema: z.object({ a: z.number(), b: z.number() }) });
      await ctx.step("s", ({ idempotencyKey }) => void keys.push(idempotencyKey));
    });
    const { requestState: state } = await flow.asks();
    for (const content of [
      { a: 1, b: 2 },
      { b: 2, a: 1, c: 3 },
      { a: 1, b: 3 },
    ]) {
      await flow.ends({ state, responses: { x: accept(content) } });
    }
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });
});

describe("a question that is asked again after what rests on it", () => {
  const charged: number[] = [];
  const pay =
    (schema: typeof N): Handler =>
    async (_args, ctx) => {
      const { n } = await ctx.elicit("amount", { message: "How much?", schema });
      const paid = await ctx.once("charge", () => {
        charged.push(n);
        return n;
      });
      await number(ctx, "note");
      return `asked for ${n}, charged ${paid}`;
    };
  /** The answer that comes late overtakes the note, whose question the handler has not reached again. */
  const overtake = async (flow: ReturnType<typeof harness>): Promise<void> => {
    await sleep(20);
    await flow.clock.advance(1_000);
  };
  const narrow = pay(z.object({ n: z.number().max(5) }));

  test.each([true, false])(
    "attack 5: gets Conflict for another answer (with a ledger that remembers: %j)",
    async (remembers) => {
      charged.length = 0;
      let ledger = createMemoryLedger({ now: () => 0 });
      const flow = harness(pay(N), {}, () => ({
        ...ledger,
        claim: (claim) => ledger.claim(claim),
        doubt: (hold) => ledger.doubt(hold),
      }));
      const one = await flow.asks();
      const two = await flow.asks({ state: one.requestState, responses: answer("amount", 10) });
      expect(Object.keys(two.inputRequests ?? {})).toEqual(["note"]);
      const again = await flow.asks({ handler: narrow, state: two.requestState, responses: answer("note", 1) });
      expect(Object.keys(again.inputRequests ?? {})).toEqual(["amount"]);
      if (!remembers) ledger = createMemoryLedger({ now: () => 0 });
      const last = flow.play({ handler: narrow, state: again.requestState, responses: answer("amount", 3) });
      const refused = expect(last).rejects.toMatchObject(
        remembers ? { code: "conflict", done: [{ name: "charge", value: 10 }] } : { code: "effect_in_doubt" },
      );
      await overtake(flow);
      await refused;
      expect(charged).toEqual([10]);
    },
  );

  test("attack 5: gets the recorded value once the old answer is given again", async () => {
    charged.length = 0;
    const flow = harness(pay(N));
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState, responses: answer("amount", 10) });
    const again = await flow.asks({ handler: narrow, state: two.requestState, responses: answer("note", 1) });
    const leg = { state: again.requestState, responses: answer("amount", 10) };
    const last = flow.ends(leg);
    await overtake(flow);
    expect(await last).toBe("asked for 10, charged 10");
    expect(charged).toEqual([10]);
  });

  test("an answer that is unusable when it comes takes nothing back that was done before it", async () => {
    const claims: string[] = [];
    const flow = harness(
      async (_args, ctx) => {
        await number(ctx, "amount");
        await ctx.once("charge", () => 1);
        return (await number(ctx, "note")).n;
      },
      {},
      (ledger) => ({
        ...ledger,
        claim(claim) {
          claims.push(claim.name);
          return ledger.claim(claim);
        },
      }),
    );
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState, responses: answer("amount", 10) });
    const again = await flow.asks({ state: two.requestState, responses: { note: accept({ n: "no number" }) } });
    expect(await flow.ends({ state: again.requestState, responses: answer("note", 1) })).toBe(1);
    expect(claims).toEqual(["charge"]);
  });
});

describe("a newer version that starts over", () => {
  function shop(ledger?: () => Ledger): {
    charged: number[];
    flow: ReturnType<typeof harness>;
    state(): Promise<string>;
  } {
    const charged: number[] = [];
    const flow = harness(
      async (_args, ctx) => {
        const { n } = await number(ctx, "amount");
        const paid = await ctx.once("charge", () => {
          charged.push(n);
          return n;
        });
        await number(ctx, "note");
        return `asked for ${n}, charged ${paid}`;
      },
      { version: 1 },
      ledger,
    );
    const state = async (): Promise<string> => {
      const one = await flow.asks();
      const two = await flow.asks({ state: one.requestState, responses: answer("amount", 10) });
      const again = await flow.asks({ state: two.requestState, options: RESTART });
      expect(Object.keys(again.inputRequests ?? {})).toEqual(["amount"]);
      return again.requestState as string;
    };
    return { charged, flow, state };
  }

  test("attack 5, S20: gets Conflict for other answers than the effect rests on, which says what was done", async () => {
    const { charged, flow, state } = shop();
    const leg = { state: await state(), options: RESTART };
    await expect(flow.play({ ...leg, responses: answer("amount", 20) })).rejects.toMatchObject({
      code: "conflict",
      done: [{ name: "charge", value: 10 }],
    });
    expect(charged).toEqual([10]);
  });

  test("attack 5, S20: gets the recorded value for the same answers", async () => {
    const { charged, flow, state } = shop();
    const leg = { state: await state(), options: RESTART };
    const asked = await flow.asks({ ...leg, responses: answer("amount", 10) });
    expect(Object.keys(asked.inputRequests ?? {})).toEqual(["note"]);
    const responses = answer("note", 1);
    expect(await flow.ends({ ...leg, state: asked.requestState, responses })).toBe("asked for 10, charged 10");
    expect(charged).toEqual([10]);
  });

  test("attack 5: an effect that its ledger has forgotten, as the memory of another process, is in doubt", async () => {
    let ledger = createMemoryLedger({ now: () => 0 });
    const { charged, flow, state } = shop(() => ({
      shared: false,
      claim: (claim) => ledger.claim(claim),
      renew: (hold, ms) => ledger.renew(hold, ms),
      settle: (hold, outcome) => ledger.settle(hold, outcome),
      release: (hold) => ledger.release(hold),
      doubt: (hold) => ledger.doubt(hold),
    }));
    const leg = { state: await state(), options: RESTART, responses: answer("amount", 10) };
    ledger = createMemoryLedger({ now: () => 0 });
    for (let tries = 0; tries < 2; tries++) {
      await expect(flow.play(leg)).rejects.toMatchObject({ code: "effect_in_doubt" });
    }
    const recovering: Handler = async (_args, ctx) => {
      const { n } = await number(ctx, "amount");
      return await ctx.once<string>("charge", { recover: () => "found" }, () => `again ${n}`);
    };
    expect(await flow.ends({ ...leg, handler: recovering })).toBe("found");
    expect(charged).toEqual([10]);
  });

  test("attack 5: a keyed effect is found again by its key", async () => {
    let charged = 0;
    const flow = harness(async (_args, ctx) => {
      const { n } = await number(ctx, "amount");
      const receipt = await ctx.once("charge", { key: `order-${n}`, keepFor: 1_000 }, () => ++charged);
      await number(ctx, "note");
      return receipt;
    });
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState, responses: answer("amount", 1) });
    const again = await flow.asks({ state: two.requestState, options: RESTART });
    const play = async (n: number): Promise<unknown> => {
      const leg = { options: RESTART, state: again.requestState, responses: answer("amount", n) };
      const { requestState } = await flow.asks(leg);
      return await flow.ends({ options: RESTART, state: requestState, responses: answer("note", 0) });
    };
    expect([await play(1), await play(2), charged]).toEqual([1, 2, 2]);
  });

  test("attack 23: an approval is one for what it said", async () => {
    const paid: number[] = [];
    const flow = harness(async (args, ctx) => {
      const price = args.old === true ? 10 : 20;
      if (!(await ctx.confirm("sure", `Pay ${price}?`))) return "kept";
      await ctx.once("pay", () => paid.push(price));
      await number(ctx, "note");
      return "paid";
    });
    const yes = { sure: accept({ confirm: true }) };
    const old: Handler = async (_args, ctx) => {
      if (await ctx.confirm("sure", "Pay 10?")) await ctx.once("pay", () => paid.push(10));
      await number(ctx, "note");
    };
    const one = await flow.asks({ handler: old });
    const two = await flow.asks({ handler: old, state: one.requestState, responses: yes });
    const again = await flow.asks({ state: two.requestState, options: RESTART });
    const leg = { state: again.requestState, options: RESTART, responses: yes };
    await expect(flow.play(leg)).rejects.toMatchObject({ code: "conflict", done: [{ name: "pay" }] });
    expect(paid).toEqual([10]);
  });
});

describe("with a key of the author's", () => {
  const order: Handler = async (_args, ctx) => {
    const { n } = await number(ctx, "note");
    return await ctx.once("order", KEY, () => `ordered with note ${n}`);
  };

  test("attack 23: whoever comes second in another flow gets the first one's value, whatever was answered", async () => {
    const flow = harness(order);
    for (const n of [1, 2]) {
      const { requestState: state } = await flow.asks();
      expect(await flow.ends({ state, responses: answer("note", n) })).toBe("ordered with note 1");
    }
  });

  test("attack 23, S9: within one flow an older state with another answer gets Conflict", async () => {
    const flow = harness(order);
    const { requestState: state } = await flow.asks();
    await flow.ends({ state, responses: answer("note", 1) });
    await expect(flow.play({ state, responses: answer("note", 2) })).rejects.toMatchObject({
      code: "conflict",
      done: [{ name: "order", value: "ordered with note 1" }],
    });
    expect(await flow.ends({ state, responses: answer("note", 1) })).toBe("ordered with note 1");
  });

  test("attack 7: a principal in another order, or with one more field, is the same", async () => {
    let done = 0;
    const flow = harness((_args, ctx) => ctx.once("charge", KEY, () => ++done));
    const spellings = [
      { type: "user", issuer: "i", subject: "s" },
      { type: "user", subject: "s", issuer: "i" },
      { type: "user", issuer: "i", subject: "s", exp: 12345 },
      { type: "user", issuer: "i", subject: "s", tenant: undefined },
    ] as unknown as Principal[];
    for (const principal of spellings) expect(await flow.ends({ principal })).toBe(1);
    expect(await flow.ends({ principal: { type: "user", issuer: "i", subject: "s", tenant: "t" } })).toBe(2);
  });

  const none: readonly (readonly [what: string, options: object])[] = [
    ["undefined", { key: undefined, keepFor: 1_000 }],
    ["undefined and no keepFor", { key: undefined }],
    ["empty", { key: "", keepFor: 1_000 }],
    ["a number", { key: 7, keepFor: 1_000 }],
    ["null", { key: null, keepFor: 1_000 }],
    ["left out, but for keepFor", { keepFor: 1_000 }],
  ];
  test.each(none)(
    "attack 20: a key that is %s is refused by the effect's name, before anything is done",
    async (_what, options) => {
      let done = 0;
      const flow = harness((_args, ctx) => ctx.once("charge", options as typeof KEY, () => ++done));
      await expect(flow.play()).rejects.toMatchObject({
        code: "invalid_options",
        message:
          'once("charge", { key, keepFor }): `key` must be a string that is not empty, your own name for what must happen once. ' +
          "Leave out both where the flow is what is unique.",
      });
      expect(done).toBe(0);
    },
  );
});

test("attack 25, S9: a flow that went on as a task is decided: a fork with another answer gets Conflict for any effect", async () => {
  let started = 0;
  const handler: Handler = async (_args, ctx) => {
    const { n } = await number(ctx, "amount");
    if (n === 1) await ctx.toTask();
    return await ctx.once("refuse", () => "refused");
  };
  const tasks = { start: async () => ({ taskId: `task ${++started}` }) };
  const flow = harness(handler, {}, undefined, { tasks });
  const capabilities = { ...ALL, extensions: { "io.modelcontextprotocol/tasks": {} } };
  const { requestState: state } = await flow.asks({ capabilities });
  for (let time = 0; time < 2; time++) {
    const reply = await flow.play({ capabilities, state, responses: answer("amount", 1) });
    expect(reply).toEqual({ type: "task", result: { taskId: "task 1" } });
  }
  const fork = flow.play({ capabilities, state, responses: answer("amount", 2) });
  await expect(fork).rejects.toMatchObject({ code: "conflict" });
});

describe("names", () => {
  const bad: readonly (readonly [name: unknown, shown: string])[] = [
    ["$task", '"$task"'],
    ["$", '"$"'],
    ["", '""'],
    ["a\ud800", '"a\ufffd"'],
    [undefined, "undefined"],
  ];
  test.each(bad)(
    "attack 25, and half a surrogate pair: the name %j is refused where it is given",
    async (name, shown) => {
      const handlers: Handler[] = [
        (_args, ctx) => ctx.once(name as string, KEY, () => 1),
        (_args, ctx) => ctx.step(name as string, () => 1),
        (_args, ctx) => ctx.sleep(name as string, 1),
      ];
      for (const handler of handlers)
        await expect(harness(handler).play()).rejects.toMatchObject({
          code: "invalid_options",
          message: `${shown} cannot be a name: give a string that is not empty, begins with no "$", and is well-formed Unicode.`,
        });
    },
  );

  test("suspected: whatever an answer's key is, what a ledger gets is plain, and the effect happens once", async () => {
    const claims: Claim[] = [];
    let done = 0;
    const key = "é🚀 \u0000";
    const handler: Handler = async (_args, ctx) => {
      await number(ctx, key);
      return await ctx.once("pay", () => ++done);
    };
    const flow = harness(handler, {}, (ledger) => ({
      ...ledger,
      claim(claim) {
        claims.push(claim);
        return ledger.claim(claim);
      },
    }));
    const { requestState: state } = await flow.asks();
    for (let time = 0; time < 2; time++) expect(await flow.ends({ state, responses: answer(key, 1) })).toBe(1);
    await expect(flow.play({ state, responses: answer(key, 2) })).rejects.toMatchObject({ code: "conflict" });
    for (const { row, name, answers } of claims) {
      expect(JSON.stringify([row, name, answers])).toMatch(/^\["[\w-]{43}","pay",\{"[\w-]{43}":"[\w-]{43}"\}\]$/);
    }
  });
});
