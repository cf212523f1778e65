import { expect, test } from "vitest";
import { z } from "zod";
import { defineFlow } from "../../../src/flow/index.ts";
import { accept, type Handler, harness } from "./harness.ts";

const refused = { code: -32602, data: { reason: "state_refused" } };
const Text = z.object({ text: z.string() });

/** Asks twice and says what it heard. */
const conversation: Handler = async (_args, ctx) => {
  const first = await ctx.elicit("first", { message: "First?", schema: Text });
  const second = await ctx.elicit("second", { message: "Second?", schema: Text });
  return `${first.text} ${second.text}`;
};
const first = (text: string): unknown => ({ first: accept({ text }) });
const second = (text: string): unknown => ({ second: accept({ text }) });

test("S9: with singleUse a state takes one set of answers; the same set may come again, another is refused", async () => {
  const flow = harness(conversation, { singleUse: true });
  const one = await flow.asks();
  const two = await flow.asks({ state: one.requestState, responses: first("a") });
  await expect(flow.play({ state: one.requestState, responses: first("b") })).rejects.toMatchObject(refused);
  await expect(flow.play({ state: one.requestState, responses: {} })).rejects.toMatchObject(refused);
  await expect(flow.play({ state: one.requestState })).rejects.toMatchObject(refused);
  const again = await flow.asks({ state: one.requestState, responses: first("a") });

  expect(await flow.ends({ state: two.requestState, responses: second("z") })).toBe("a z");
  for (const state of [two.requestState, again.requestState]) {
    expect(await flow.ends({ state, responses: second("z") })).toBe("a z");
    await expect(flow.play({ state, responses: second("y") })).rejects.toMatchObject(refused);
  }
  expect(flow.events).toContainEqual({
    type: "state_refused",
    reason: "used",
    method: "tools/call",
    target: "probe",
  });
});

test("with singleUse the order of fields does not make another set", async () => {
  const flow = harness(conversation, { singleUse: true });
  const one = await flow.asks();
  const reordered = { first: { content: { text: "a" }, action: "accept" } };
  await flow.asks({ state: one.requestState, responses: first("a") });
  expect(await flow.asks({ state: one.requestState, responses: reordered })).toBeDefined();
});

test("with singleUse a handler that reads its answers itself is held to them too", async () => {
  const flow = harness(
    (_args, ctx) =>
      ctx.requestState === undefined
        ? { resultType: "input_required", requestState: "waiting", inputRequests: {} }
        : JSON.stringify(ctx.inputResponses),
    { singleUse: true },
  );
  const one = await flow.asks();
  expect(await flow.ends({ state: one.requestState, responses: { any: { a: 1 } } })).toBe('{"any":{"a":1}}');
  await expect(flow.play({ state: one.requestState, responses: { any: { a: 2 } } })).rejects.toMatchObject(refused);
});

test("without singleUse an older state may correct an answer until the first effect", async () => {
  const flow = harness(conversation);
  const one = await flow.asks();
  await flow.asks({ state: one.requestState, responses: first("a") });
  const corrected = await flow.asks({ state: one.requestState, responses: first("b") });
  expect(await flow.ends({ state: corrected.requestState, responses: second("z") })).toBe("b z");
});

test("with singleUse no round is played while the ledger does not answer", async () => {
  let played = 0;
  const flow = harness(
    (args, ctx) => {
      played += 1;
      return conversation(args, ctx);
    },
    { singleUse: true },
    (ledger) => ({ ...ledger, claim: () => Promise.reject(new Error("ECONNREFUSED")) }),
  );
  const one = await flow.asks();
  await expect(flow.play({ state: one.requestState, responses: first("a") })).rejects.toMatchObject({
    code: "ledger_unavailable",
  });
  expect(played).toBe(1);
});

test("singleUse and answers without state exclude each other", () => {
  expect(() => defineFlow("tool", "probe", { singleUse: true, answersWithoutState: "accept" })).toThrow(
    'tool "probe": singleUse holds states to one set of answers, so it goes with answersWithoutState: "ask" only.',
  );
});
