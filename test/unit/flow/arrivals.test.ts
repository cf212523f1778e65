// Whatever comes to a handler is handed out live as a replay hands it out.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Context } from "../../../src/flow/index.ts";
import { Failed } from "../../../src/flow/index.ts";
import { RpcError, ToolError, VolleyError } from "../../../src/index.ts";
import { accept, type Handler, harness } from "./harness.ts";

const Value = z.object({ v: z.string() });
const ask = (ctx: Context, key: string): Promise<string> =>
  ctx.elicit(key, { message: `${key}?`, schema: Value }).then(({ v }) => v);
const said = (v: string) => accept({ v });

describe("races", () => {
  test("attack 9: steps that end in one turn have one winner, live and replayed", async () => {
    const acted: string[] = [];
    const flow = harness(async (_args, ctx) => {
      const batch = new Promise<void>((resolve) => setTimeout(resolve, 5));
      const load = (n: string): Promise<string> => batch.then(() => n);
      const helper = async (): Promise<string> => {
        const value = await ctx.step("a", () => load("a"));
        return await Promise.resolve(value);
      };
      const winner = await Promise.race([helper(), ctx.step("c", () => load("c"))]);
      await ctx.step(`act:${winner}`, () => void acted.push(winner));
      await ask(ctx, "q");
      return winner;
    });
    const one = await flow.asks();
    expect(await flow.ends({ state: one.requestState, responses: { q: said("x") } })).toBe("a");
    expect(acted).toEqual(["a"]);
  });

  test("attack 9: a race within a race has one winner", async () => {
    const flow = harness(async (_args, ctx) => {
      const now = (name: string): Promise<string> => ctx.step(name, () => name);
      const inner = await ctx.race({
        pair: () => ctx.race({ a: () => now("a"), b: () => now("b") }).then(({ value }) => value),
        c: () => now("c"),
      });
      await ask(ctx, "q");
      return inner.value;
    });
    const one = await flow.asks();
    expect(await flow.ends({ state: one.requestState, responses: { q: said("x") } })).toBe("a");
  });

  const approval: Handler = async (_args, ctx) => {
    const first = await ctx.race({ answer: () => ask(ctx, "approve"), limit: () => ctx.sleep("limit", 60_000) });
    if (first.winner === "limit") return "Nobody approved: nothing done";
    await ctx.step("effect", () => first.value);
    return `done, and then ${await ask(ctx, "after")}`;
  };

  test("attack 1, attack 12: a question beside a sleep is asked at once, and its answer stands however late the next round comes", async () => {
    const flow = harness(approval);
    const one = await flow.asks();
    expect(Object.keys(one.inputRequests ?? {})).toEqual(["approve"]);
    const two = await flow.asks({ state: one.requestState, responses: { approve: said("yes") } });
    expect(Object.keys(two.inputRequests ?? {})).toEqual(["after"]);
    await flow.clock.advance(5 * 60_000);
    expect(await flow.ends({ state: two.requestState, responses: { after: said("more") } })).toBe(
      "done, and then more",
    );
  });

  test("attack 1: an answer that comes when the time is up is too late", async () => {
    const flow = harness(approval);
    const one = await flow.asks();
    await flow.clock.advance(60_000);
    expect(await flow.ends({ state: one.requestState, responses: { approve: said("yes") } })).toBe(
      "Nobody approved: nothing done",
    );
  });

  test("attack 16: what the losers have asked, at whatever depth, is asked no more", async () => {
    const flow = harness(async (_args, ctx) => {
      const first = await ctx.race({
        p: () => ask(ctx, "p").then((v) => `p ${v}`),
        both: async () => (await Promise.all([ask(ctx, "p1"), ask(ctx, "p2")])).join(),
        q: () => ask(ctx, "q").then((v) => `q ${v}`),
      });
      return `${first.winner}: ${first.value}, ${await ask(ctx, "z")}`;
    });
    const one = await flow.asks();
    expect(Object.keys(one.inputRequests ?? {})).toEqual(["p", "p1", "p2", "q"]);
    const two = await flow.asks({ state: one.requestState, responses: { q: said("1") } });
    expect(Object.keys(two.inputRequests ?? {})).toEqual(["z"]);
    expect(await flow.ends({ state: two.requestState, responses: { z: said("2") } })).toBe("q: q 1, 2");
  });

  test("X5: a side that has lost begins nothing more, in this round or a later one", async () => {
    const effects: string[] = [];
    const flow = harness(async (_args, ctx) => {
      await ask(ctx, "start");
      const first = await ctx.race({
        slow: async () => {
          await ctx.step("wait", () => sleep(5, 1));
          await ctx.once("slow effect", () => void effects.push("slow"));
        },
        fast: () => ctx.step("fast", () => "fast"),
      });
      await ctx.step("then", () => sleep(20, 1));
      await ask(ctx, "end");
      return first.winner;
    });
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState, responses: { start: said("x") } });
    expect(await flow.ends({ state: two.requestState, responses: { end: said("x") } })).toBe("fast");
    expect(effects).toEqual([]);
  });

  test("attack 8: a race of nothing, or of promises, is refused", async () => {
    const refused = { code: "context_misused", message: expect.stringMatching(/^race takes functions by name/) };
    await expect(harness((_args, ctx) => ctx.race({})).play()).rejects.toMatchObject(refused);
    const promises = (_args: unknown, ctx: Context): unknown => ctx.race([ask(ctx, "a")] as never);
    await expect(harness(promises).play()).rejects.toMatchObject(refused);
  });

  test("attack 24: a race that nobody awaited is named", async () => {
    const flow = harness((_args, ctx) => void ctx.race({ a: () => ctx.step("a", () => sleep(5)) }));
    await expect(flow.play()).rejects.toMatchObject({
      code: "context_misused",
      message: 'The handler of tool "probe" returned without awaiting "race". Put `await` before the call.',
    });
  });

  test("attack 14: whoever has lost a race may make its next call as the handler returns", async () => {
    for (let hops = 0; hops < 6; hops++) {
      const flow = harness(async (_args, ctx) => {
        const long = async (): Promise<string> => {
          await ctx.step("a", async () => 1);
          for (let i = 0; i < hops; i++) await null;
          await ctx.step("b", async () => 2);
          return "long";
        };
        return Promise.race([long(), ctx.step("c", async () => "short")]);
      });
      expect(await flow.ends()).toMatch(/^(short|long)$/);
    }
  });
});

describe("failures", () => {
  test("attack 18: a step that failed stays failed once a question rests on it", async () => {
    let tries = 0;
    const backups: string[] = [];
    const flow = harness(async (_args, ctx) => {
      try {
        return await ctx.step("primary", () => {
          if (++tries === 1) throw Object.assign(new TypeError("down"), { code: "EDOWN" });
          return "first way";
        });
      } catch (error) {
        const which = await ask(ctx, "which");
        await ctx.once("backup", () => void backups.push(which));
        const { name, message, code } = error as Error & { code?: string };
        return [name, message, code, await ask(ctx, "b")];
      }
    });
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState, responses: { which: said("spare") } });
    expect(await flow.ends({ state: two.requestState, responses: { b: said("end") } })).toEqual([
      "TypeError",
      "down",
      "EDOWN",
      "end",
    ]);
    expect([tries, backups]).toEqual([1, ["spare"]]);
  });

  test("a handler sees the same error live as in a replay, and the operator the same stack", async () => {
    class Custom extends Error {
      readonly extra = 1;
    }
    const seen: unknown[] = [];
    const flow = harness(async (_args, ctx) => {
      await ctx
        .step("fails", () => Promise.reject(new Custom("no")))
        .catch((error: Error & { extra?: number }) =>
          seen.push([error.message, error.extra, error instanceof Custom, /arrivals\.test/.test(error.stack ?? "")]),
        );
      await ask(ctx, "q");
    });
    const one = await flow.asks();
    await flow.ends({ state: one.requestState, responses: { q: said("x") } });
    expect(seen).toEqual([
      ["no", undefined, false, true],
      ["no", undefined, false, false],
    ]);
  });

  test("an effect that failed for good is the same error in every later round", async () => {
    let tries = 0;
    const flow = harness(async (_args, ctx) => {
      await ask(ctx, "start");
      const why = await ctx
        .once("charge", () => {
          tries++;
          throw new Failed("card refused");
        })
        .catch((error: unknown) => error);
      await ask(ctx, "q");
      return [why instanceof Failed, (why as Failed).message];
    });
    const one = await flow.asks();
    const two = await flow.asks({ state: one.requestState, responses: { start: said("x") } });
    expect(await flow.ends({ state: two.requestState, responses: { q: said("x") } })).toEqual([true, "card refused"]);
    expect(tries).toBe(1);
  });

  test.each<[string, Error, (error: unknown) => boolean]>([
    ["ToolError", new ToolError("Sold out."), (error) => error instanceof ToolError],
    ["RpcError", new RpcError(4711, "No.", { why: 1 }), (error) => RpcError.is(error) && error.code === 4711],
    ["VolleyError", new VolleyError("timeout", "Late."), (error) => VolleyError.is(error) && error.code === "timeout"],
  ])("an error of ours comes back as what it is: %s", async (_name, thrown, isIt) => {
    const flow = harness(async (_args, ctx) => {
      const caught = await ctx.step("fails", () => Promise.reject(thrown)).catch((error: unknown) => error);
      await ask(ctx, "q");
      return [isIt(caught), (caught as Error).message];
    });
    const one = await flow.asks();
    const told = [true, thrown.message];
    expect(await flow.ends({ state: one.requestState, responses: { q: said("x") } })).toEqual(told);
  });

  test.each<[string, unknown]>([
    ["a string", "no"],
    ["null", null],
    ["an object", { reason: "no" }],
  ])("what is thrown and is no error comes back: %s", async (_title, thrown) => {
    const flow = harness(async (_args, ctx) => {
      const caught = await ctx.step("fails", () => Promise.reject(thrown)).catch((error: unknown) => error);
      await ask(ctx, "q");
      return caught;
    });
    const one = await flow.asks();
    expect(await flow.ends({ state: one.requestState, responses: { q: said("x") } })).toEqual(thrown);
  });
});

describe("a closed run is dead", () => {
  test("attack 2: no catch runs and nothing goes on in a round that was handed back", async () => {
    let [refunds, mails] = [0, 0];
    const untilAborted = (signal: AbortSignal, ms: number): Promise<string> =>
      new Promise((resolve, reject) => {
        setTimeout(() => resolve("slow"), ms);
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    const flow = harness(
      async (_args, ctx) => {
        await ctx.step("reserve", () => 1);
        try {
          await ctx.step("slow", ({ signal }) => untilAborted(signal, ctx.round === 1 ? 500 : 10));
        } catch {
          refunds++;
          return "rolled back";
        }
        mails++;
        return "fine";
      },
      { roundTimeoutMs: 60 },
    );
    const playing = flow.asks();
    await flow.clock.advance(60);
    const one = await playing;
    expect(one.inputRequests).toBeUndefined();
    expect(await flow.ends({ state: one.requestState })).toBe("fine");
    expect([refunds, mails]).toEqual([0, 1]);
  });

  test("a context that is used after its handler has ended says so", async () => {
    let leaked: Context | undefined;
    const flow = harness((_args, ctx) => {
      leaked = ctx;
      return "done";
    });
    await flow.ends();
    const late = leaked?.elicit("late", { message: "?", schema: Value });
    await expect(late).rejects.toMatchObject({
      code: "context_misused",
      message:
        '"late" was called after the handler of tool "probe" had ended. Await all that uses the context in the handler.',
    });
    expect(flow.events).toContainEqual({ type: "late_call", target: "probe", name: "late" });
  });
});

describe("a round has one limit", () => {
  test("attack 3: a sleep that no round can wait for is refused at once, with the way to a task", async () => {
    let mails = 0;
    const flow = harness(
      async (_args, ctx) => {
        await ctx.sleep("w", 250);
        mails++;
      },
      { roundTimeoutMs: 60 },
    );
    await expect(flow.play()).rejects.toMatchObject({
      code: "context_misused",
      message:
        'The sleep "w" is longer than a round may take (roundTimeoutMs: 60). Call `await ctx.toTask()` before it: ' +
        "a task sleeps as long as you like, and nothing runs meanwhile.",
    });
    expect(mails).toBe(0);
  });

  test("attack 4: raw code after a quick step is not run twice at the same time", async () => {
    let raw = 0;
    const flow = harness(
      async (_args, ctx) => {
        await ctx.step("quick", () => 1);
        raw++;
        await new Promise(() => {});
      },
      { roundTimeoutMs: 60 },
    );
    const playing = flow.play();
    playing.catch(() => undefined);
    await flow.clock.advance(60);
    await expect(playing).rejects.toMatchObject({ code: "timeout", message: "The round took longer than 60 ms." });
    expect(raw).toBe(1);
  });

  test("attack 8: a handler that waits for what never comes ends with its round, and its signal fires", async () => {
    let signal: AbortSignal | undefined;
    const flow = harness((_args, ctx) => {
      signal = ctx.signal;
      return new Promise(() => {});
    });
    const playing = flow.play();
    playing.catch(() => undefined);
    await flow.clock.advance(29_999);
    expect(signal?.aborted).toBe(false);
    await flow.clock.advance(1);
    await expect(playing).rejects.toMatchObject({ code: "timeout" });
    expect(signal?.reason).toBeInstanceOf(VolleyError);
  });

  test("attack 8: a release has a limit of its own, and a fault for the operator", async () => {
    const flow = harness(async (_args, ctx) => {
      await ctx.use(
        () => 1,
        () => new Promise(() => {}),
      );
      return "done";
    });
    const playing = flow.ends();
    await flow.clock.advance(5_000);
    expect(await playing).toBe("done");
    expect(flow.events).toContainEqual({
      type: "fault",
      target: "probe",
      error: expect.objectContaining({
        message: "A release took longer than 5000 ms: the round has ended without it.",
      }),
    });
  });
});

describe("what an earlier round has told is not told again", () => {
  test("progress and log lines are sent once a flow", async () => {
    const flow = harness(async (_args, ctx) => {
      ctx.progress(1, 3);
      ctx.log("info", "asking");
      await ask(ctx, "a");
      ctx.progress(2, 3);
      await ask(ctx, "b");
      ctx.progress(3, 3);
      return "done";
    });
    const told = (): unknown[] => flow.notifications.splice(0).map(({ params }) => params.progress ?? params.data);
    const one = await flow.asks();
    expect(told()).toEqual([1, "asking"]);
    const two = await flow.asks({ state: one.requestState, responses: { a: said("x") } });
    expect(told()).toEqual([2]);
    await flow.ends({ state: two.requestState, responses: { b: said("x") } });
    expect(told()).toEqual([3]);
  });
});

describe("cost", () => {
  test("attack 22: a replay of many steps beside one another looks at each a bounded number of times", async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `s${index}`);
    let asked = 0;
    const flow = harness(async (_args, ctx) => {
      await Promise.all(names.map((name) => ctx.step(name, () => ++asked)));
      await ask(ctx, "q");
      return asked;
    });
    const one = await flow.asks();
    const turns = countTurns();
    expect(await flow.ends({ state: one.requestState, responses: { q: said("x") } })).toBe(2_000);
    expect(turns()).toBeLessThan(3 * names.length);
  });
});

/** How many turns of the event loop are asked for until the returned function is called. */
function countTurns(): () => number {
  const original = globalThis.setImmediate;
  let count = 0;
  const counting = ((...args: Parameters<typeof original>) => {
    count++;
    return original(...args);
  }) as typeof original;
  globalThis.setImmediate = counting;
  return () => {
    globalThis.setImmediate = original;
    return count;
  };
}
