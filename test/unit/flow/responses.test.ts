// H21: a client may send answers to what nobody asked; looking at them costs nothing, for nobody does.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { accept, type Handler, harness } from "./harness.ts";

const Text = z.object({ text: z.string() });
const ask: Handler = async (_args, ctx) => (await ctx.elicit("name", { message: "Name?", schema: Text })).text;
const manual: Handler = (_args, ctx) =>
  ctx.requestState === undefined
    ? { resultType: "input_required", requestState: "waiting", inputRequests: {} }
    : Object.keys(ctx.inputResponses ?? {}).length;

/** Many answers, and how often one of them was looked at, by key. */
function counted(entries: number, own: Record<string, unknown> = {}): { sent: object; looks: Map<string, number> } {
  const looks = new Map<string, number>();
  const sent = {};
  const answers = new Map(
    Array.from({ length: entries }, (_, index): [string, unknown] => [`k${index}`, { n: index }]),
  );
  for (const [key, value] of [...answers, ...Object.entries(own)]) {
    Object.defineProperty(sent, key, {
      enumerable: true,
      get() {
        looks.set(key, (looks.get(key) ?? 0) + 1);
        return value;
      },
    });
  }
  return { sent, looks };
}

describe.each([false, true])("attack 21: with singleUse %j", (singleUse) => {
  test("only answers to open questions are looked at, whatever else came", async () => {
    const flow = harness(ask, { singleUse });
    const { requestState: state } = await flow.asks();
    const { sent, looks } = counted(5_000, { name: accept({ text: "Ada" }) });
    expect(await flow.ends({ state, responses: sent })).toBe("Ada");
    expect([...looks.keys()]).toEqual(["name"]);
  });

  test("a handler that reads its answers itself sees up to 1,000, and more are refused", async () => {
    const flow = harness(manual, { singleUse });
    const { requestState: state } = await flow.asks();
    await expect(flow.play({ state, responses: counted(1_001).sent })).rejects.toMatchObject({
      code: -32602,
      message: "inputResponses may hold at most 1000 answers here.",
    });
    expect(await flow.ends({ state, responses: counted(1_000).sent })).toBe(1_000);
  });
});

test("attack 21: without a state none is looked at, and some keys are told", async () => {
  const flow = harness(ask);
  const { sent, looks } = counted(5_000);
  await flow.asks({ responses: sent });
  expect(looks.size).toBe(0);
  const keys = ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"];
  expect(flow.events).toContainEqual({ type: "answers_without_state", target: "probe", keys });
});

test("attack 21: where answers without state are accepted, those that are asked for are looked at", async () => {
  const flow = harness(ask, { answersWithoutState: "accept" });
  const { sent, looks } = counted(5_000, { name: accept({ text: "Ada" }) });
  expect(await flow.ends({ responses: sent })).toBe("Ada");
  expect([...looks.keys()]).toEqual(["name"]);
});

test("S15: with singleUse an answer that nobody asked for makes no other set", async () => {
  const flow = harness(ask, { singleUse: true });
  const { requestState: state } = await flow.asks();
  const name = accept({ text: "Ada" });
  expect(await flow.ends({ state, responses: { name } })).toBe("Ada");
  expect(await flow.ends({ state, responses: { name, other: accept({}) } })).toBe("Ada");
});
