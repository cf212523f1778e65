import { describe, expect, test } from "vitest";
import { z } from "zod";
import { NotDone, type TracedRound, type TraceEvent } from "../../../src/flow/index.ts";
import { accept, harness } from "./harness.ts";

const NAME = { message: "Name?", schema: z.object({ name: z.string() }) };

/** The events of one round without what is the same in all of them. */
function told(events: TraceEvent[]): unknown[] {
  return events.splice(0).map((event) => {
    const { within: _within, target: _target, ...rest } = event as TraceEvent & { within?: unknown; target?: unknown };
    return rest;
  });
}

describe("what a trace is told", () => {
  test("rounds, steps, asks and effects, with what was replayed", async () => {
    const flow = harness(
      async (_args, ctx) => {
        await ctx.step("look", () => 1);
        const { name } = await ctx.elicit("name", NAME);
        return await ctx.once("charge", () => name);
      },
      {},
      undefined,
      { traceRounds: true },
    );
    const one = await flow.asks();
    const round = { type: "round", flow: expect.any(String), error: undefined, durationMs: 0 };
    const opened = { type: "state_opened", kid: expect.stringMatching(/^[\w-]{8}$/), sealedAt: flow.clock.now() };
    expect(told(flow.events)).toEqual([
      { type: "round_started" },
      { type: "step", name: "look", replayed: false, failed: false, durationMs: 0 },
      { type: "asked", key: "name", tries: 0 },
      { ...round, round: 1, outcome: "input_required", replayed: 0, recorded: 1, asked: 1 },
    ]);
    const two = await flow.asks({ state: one.requestState });
    expect(told(flow.events)).toEqual([
      opened,
      { type: "round_started" },
      { type: "step", name: "look", replayed: true, failed: false, durationMs: 0 },
      { type: "asked_again", key: "name", reason: "No usable answer came." },
      { type: "asked", key: "name", tries: 1 },
      { ...round, round: 2, outcome: "input_required", replayed: 1, recorded: 0, asked: 1 },
    ]);
    await flow.ends({ state: two.requestState, responses: { name: accept({ name: "Ada" }) } });
    expect(told(flow.events)).toEqual([
      opened,
      { type: "round_started" },
      { type: "step", name: "look", replayed: true, failed: false, durationMs: 0 },
      { type: "answered", key: "name", replayed: false },
      { type: "effect", name: "charge", outcome: "claimed" },
      { type: "effect", name: "charge", outcome: "done" },
      { ...round, round: 3, outcome: "complete", replayed: 2, recorded: 1, asked: 0 },
    ]);
  });

  test("what failed, by code or name and never by its message", async () => {
    const flow = harness(
      async (_args, ctx) => {
        await ctx.step("look", () => Promise.reject(new TypeError("of Ada"))).catch(() => undefined);
        return await ctx.once("charge", { key: "1", keepFor: 1_000 }, () => {
          throw new NotDone("for Ada");
        });
      },
      {},
      undefined,
      { traceRounds: true },
    );
    await expect(flow.play()).rejects.toThrow("for Ada");
    expect(JSON.stringify(flow.events)).not.toContain("Ada");
    expect(told(flow.events)).toMatchObject([
      { type: "round_started" },
      { type: "step", name: "look", failed: true },
      { type: "effect", outcome: "claimed" },
      { type: "effect", outcome: "not_done" },
      { type: "round", outcome: "threw", error: "effect_failed" },
    ]);
  });

  test("a round that cannot be sent is one that failed", async () => {
    const flow = harness((_args, ctx) => ctx.elicit("name", NAME), {}, undefined, { traceRounds: true });
    await expect(flow.play({ capabilities: {} })).rejects.toThrow();
    expect(flow.events.at(-1)).toMatchObject({ type: "round", outcome: "threw", error: "-32021" });
  });

  test("what the first round wants to find again is in the later ones; the handler runs where the trace says", async () => {
    const rounds: (string | undefined)[] = [];
    const entered: number[] = [];
    const flow = harness((_args, ctx) => ctx.elicit("name", NAME), {}, undefined, {
      traceRounds: true,
      trace: (event) => {
        if (event.type !== "round_started") return;
        const { within }: { within: TracedRound } = event;
        rounds.push(within.origin);
        within.origin ??= `first of ${within.kind} ${within.name}`;
        within.enter = (call) => {
          entered.push(within.round);
          return call();
        };
      },
    });
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState });
    await flow.ends({ state: two.requestState, responses: { name: accept({ name: "Ada" }) } });
    expect(rounds).toEqual([undefined, "first of tool probe", "first of tool probe"]);
    expect(entered).toEqual([1, 2, 3]);
  });

  test("without a trace of rounds none is told", async () => {
    const flow = harness(async (_args, ctx) => ctx.step("look", () => 1));
    await flow.ends();
    expect(flow.events).toEqual([]);
  });
});
