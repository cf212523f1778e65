import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Context, Failed, NotDone } from "../../../src/flow/index.ts";
import { accept, type Handler, harness } from "./harness.ts";

const Amount = z.object({ amount: z.number() });
const askAmount = (ctx: Context): Promise<{ amount: number }> =>
  ctx.elicit("amount", { message: "How much?", schema: Amount });

function payments(): { readonly paid: number[]; readonly handler: Handler } {
  const paid: number[] = [];
  const handler: Handler = async (_args, ctx) => {
    const { amount } = await askAmount(ctx);
    return ctx.once("pay", () => `paid ${paid.push(amount)} x ${amount}`);
  };
  return { paid, handler };
}

describe("rule 8: once", () => {
  test("S9, X5, case 36: the last leg sent twice does the effect once and tells the same", async () => {
    const { paid, handler } = payments();
    const flow = harness(handler);
    const one = await flow.asks();
    const leg = { state: one.requestState, responses: { amount: accept({ amount: 5 }) } };
    const both = Promise.all([flow.ends(leg), flow.ends(leg)]);
    await flow.clock.advance(200);
    expect(await both).toEqual(["paid 1 x 5", "paid 1 x 5"]);
    expect(await flow.ends(leg)).toBe("paid 1 x 5");
    expect(paid).toEqual([5]);
  });

  test("S9: an older state with another answer gets Conflict that says what was done", async () => {
    const { paid, handler } = payments();
    const flow = harness(handler);
    const one = await flow.asks();
    await flow.ends({ state: one.requestState, responses: { amount: accept({ amount: 5 }) } });
    await expect(
      flow.play({ state: one.requestState, responses: { amount: accept({ amount: 6 }) } }),
    ).rejects.toMatchObject({ code: "conflict", done: [{ name: "pay", value: "paid 1 x 5" }] });
    expect(paid).toEqual([5]);
  });

  test("a flow that has asked nothing gets a ticket first; two first calls are two flows", async () => {
    let done = 0;
    const flow = harness((_args, ctx) => ctx.once("count", () => ++done));
    const one = await flow.asks();
    expect(one).toEqual({ resultType: "input_required", requestState: expect.any(String) });
    expect(done).toBe(0);
    expect(await flow.ends({ state: one.requestState })).toBe(1);
    expect(await flow.ends({ state: one.requestState })).toBe(1);
    const other = await flow.asks();
    expect(await flow.ends({ state: other.requestState })).toBe(2);
  });

  test("a business key needs no ticket and holds within principal and tool", async () => {
    let done = 0;
    const handler: Handler = (args, ctx) =>
      ctx.once("ship", { key: String(args.order), keepFor: 86_400_000 }, () => ++done);
    const flow = harness(handler);
    expect(await flow.ends({ args: { order: 1 } })).toBe(1);
    expect(await flow.ends({ args: { order: 1 } })).toBe(1);
    expect(await flow.ends({ args: { order: 2 } })).toBe(2);
    const principal = { type: "user", issuer: "https://id.example", subject: "u1" } as const;
    expect(await flow.ends({ args: { order: 1 }, principal })).toBe(3);
    await expect(harness((_args, ctx) => ctx.once("ship", { key: "1" }, () => 1)).play()).rejects.toMatchObject({
      code: "invalid_options",
    });
  });

  test("a throw leaves it in doubt; NotDone gives it back; Failed is recorded", async () => {
    const errors = [new Error("socket hang up"), new NotDone("card declined"), new Failed("account closed")];
    const outcomes: unknown[] = [];
    for (const error of errors) {
      let tries = 0;
      const flow = harness((_args, ctx) =>
        ctx.once("pay", () => {
          tries++;
          throw error;
        }),
      );
      const one = await flow.asks();
      const codes: unknown[] = [];
      for (let index = 0; index < 2; index++) {
        codes.push(await flow.play({ state: one.requestState }).catch((thrown: { code: string }) => thrown.code));
      }
      outcomes.push([tries, codes]);
    }
    expect(outcomes).toEqual([
      [1, ["effect_in_doubt", "effect_in_doubt"]],
      [2, ["effect_failed", "effect_failed"]],
      [1, ["effect_failed", "effect_failed"]],
    ]);
  });

  test("recover takes an effect in doubt over, with the same idempotency key", async () => {
    const keys: string[] = [];
    const handler: Handler = (_args, ctx) =>
      ctx.once(
        "pay",
        {
          recover: ({ idempotencyKey }) => {
            keys.push(idempotencyKey);
            return "found it done";
          },
        },
        ({ idempotencyKey }) => {
          keys.push(idempotencyKey);
          throw new Error("socket hang up");
        },
      );
    const flow = harness(handler);
    const one = await flow.asks();
    await expect(flow.play({ state: one.requestState })).rejects.toMatchObject({ code: "effect_in_doubt" });
    expect(await flow.ends({ state: one.requestState })).toBe("found it done");
    expect(keys[0]).toMatch(/^[\w-]{43}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  test("a claim whose owner died is in doubt once its lease is over", async () => {
    const flow = harness(
      (_args, ctx) => ctx.once("pay", () => new Promise(() => {})),
      {},
      (ledger) => ({ ...ledger, renew: () => new Promise(() => {}) }),
    );
    const one = await flow.asks();
    const first = flow.play({ state: one.requestState });
    await sleep(5);
    const second = expect(flow.play({ state: one.requestState })).rejects.toMatchObject({ code: "effect_in_doubt" });
    await flow.clock.advance(15_400);
    await second;
    await flow.clock.advance(15_000);
    expect(await first).toMatchObject({ type: "input_required" });
  });

  test("X5: who slept between its claim and the answer begins nothing, and looks again", async () => {
    let done = 0;
    const epochs: number[] = [];
    const flow = harness(
      (_args, ctx) => ctx.once("pay", { recover: () => `recovered, ${done} done` }, () => `${++done} done`),
      {},
      (ledger) => ({
        ...ledger,
        async claim(claim) {
          const result = await ledger.claim(claim);
          if (result.status === "claimed" && epochs.push(result.epoch) === 1) {
            await flow.clock.advance(15_000);
            // Meanwhile another takes over and does not know either.
            await ledger.claim({ ...claim, owner: "heir", takeOver: true });
            await ledger.doubt({ ...claim, owner: "heir", epoch: 2 });
          }
          return result;
        },
      }),
    );
    const one = await flow.asks();
    expect(await flow.ends({ state: one.requestState })).toBe("recovered, 0 done");
    expect([done, epochs]).toEqual([0, [1, 3]]);
  });

  test("a second arrival is held, then paced by two state-only rounds, then told that it still runs", async () => {
    let finish: (value: string) => void = () => {};
    const flow = harness((_args, ctx) =>
      ctx.once(
        "pay",
        () =>
          new Promise<string>((resolve) => {
            finish = resolve;
          }),
      ),
    );
    const one = await flow.asks();
    const first = flow.play({ state: one.requestState });
    await sleep(5);
    let state = one.requestState;
    for (let wait = 0; wait < 2; wait++) {
      const waiting = flow.asks({ state });
      await flow.clock.advance(20_400);
      state = (await waiting).requestState;
    }
    const last = expect(flow.play({ state })).rejects.toMatchObject({ code: "effect_running" });
    await flow.clock.advance(20_400);
    await last;
    finish("paid");
    await sleep(5);
    expect(await flow.ends({ state })).toBe("paid");
    expect(await first).toMatchObject({ type: "input_required" });
  });

  test("once claimed, a disconnect does not reach the effect, and it settles", async () => {
    let abort: (reason: Error) => void = () => {};
    let aborted = false;
    let finish: () => void = () => {};
    const flow = harness(async (_args, ctx) => {
      void ctx.signal;
      return ctx.once("pay", async ({ signal }) => {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        aborted = signal.aborted;
        return "paid";
      });
    });
    const one = await flow.asks();
    const leg = flow.play({
      state: one.requestState,
      onAbort: (listener) => {
        abort = listener;
      },
    });
    await sleep(5);
    abort(new Error("gone"));
    finish();
    await leg;
    expect(aborted).toBe(false);
    expect(await flow.ends({ state: one.requestState })).toBe("paid");
  });

  test("a ledger that does not answer fails closed: no effect, a clear error, and the state still good", async () => {
    let down = true;
    let done = 0;
    const flow = harness(
      (_args, ctx) => ctx.once("pay", () => ++done),
      {},
      (ledger) => ({
        ...ledger,
        claim: (claim) => (down ? Promise.reject(new Error("ECONNREFUSED")) : ledger.claim(claim)),
      }),
    );
    const one = await flow.asks();
    await expect(flow.play({ state: one.requestState })).rejects.toMatchObject({ code: "ledger_unavailable" });
    expect(done).toBe(0);
    down = false;
    expect(await flow.ends({ state: one.requestState })).toBe(1);
  });

  test("S9: after the flow's deadline no state of it opens, whatever its own time was", async () => {
    const { handler } = payments();
    const flow = harness(handler, { ttlMs: 600_000, flowMs: 900_000 });
    const one = await flow.asks();
    await flow.clock.advance(590_000);
    const two = await flow.asks({ state: one.requestState, responses: {} });
    await flow.clock.advance(309_000);
    expect(await flow.play({ state: two.requestState, responses: {} })).toMatchObject({ type: "input_required" });
    await flow.clock.advance(1_000);
    await expect(flow.play({ state: two.requestState, responses: {} })).rejects.toMatchObject({
      code: -32602,
      data: { reason: "state_expired" },
    });
  });
});
