// Clients that answer what was not asked, in shapes nobody asked for, or for somebody else.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { createServer, type Server } from "../../src/index.ts";
import { createMemoryLedger } from "../../src/ledger/memory.ts";
import { checkDeterminism, createFakeClock } from "../../src/testing.ts";
import { MEMO, openVault, TEN, YES } from "./vault.ts";
import { accept, serve, tracing, type Wire } from "./wire.ts";

const Name = z.object({ name: z.string() });
const ask = { message: "Name?", schema: Name };

let server: Server;
let wire: Wire;
let trace: ReturnType<typeof tracing>;
beforeEach(async () => {
  trace = tracing();
  server = createServer({ name: "answers", version: "1.0.0", singleInstance: true, trace: trace.trace });
  wire = await serve(server);
});
afterEach(() => wire[Symbol.asyncDispose]());

const textOf = (answer: Awaited<ReturnType<Wire["call"]>>): string => answer.json.result.content[0].text;

describe("what reaches the client is the question and nothing else", () => {
  const question = {
    method: "elicitation/create",
    params: {
      mode: "form",
      message: "Name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    },
  };
  const required = {
    resultType: "input_required",
    inputRequests: { name: question },
    requestState: expect.stringMatching(/^v1\./),
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "answers", version: "1.0.0" } },
  };

  test("case 20, S1: from a tool with an output schema, a prompt and a resource with a cache, untouched", async () => {
    const output = z.object({ greeting: z.string() });
    server.tool("greet", { output }, async (_args, ctx) => {
      return { greeting: `Hello, ${(await ctx.elicit("name", ask)).name}.` };
    });
    server.prompt("greet", {}, async (_args, ctx) => `Greet ${(await ctx.elicit("name", ask)).name}.`);
    const cache = { ttlMs: 60_000, cacheScope: "public" } as const;
    server.resource("greet", "greet://me", { cache }, async (_uri, ctx) => (await ctx.elicit("name", ask)).name);
    server.resource("plain", "greet://all", { cache }, () => "all");

    const answers = { name: accept({ name: "Ada" }) };
    const tool = await wire.call("greet");
    expect(tool.json).toEqual({ jsonrpc: "2.0", id: 1, result: required });
    const done = await wire.call("greet", { state: tool.json.result.requestState, answers });
    expect(done.json.result.structuredContent).toEqual({ greeting: "Hello, Ada." });

    const prompt = await wire.prompt("greet");
    expect(prompt.json.result).toEqual(required);
    const made = await wire.prompt("greet", { state: prompt.json.result.requestState, answers });
    expect(made.json.result.messages[0].content.text).toBe("Greet Ada.");

    const resource = await wire.read("greet://me");
    expect(resource.json.result).toEqual(required);
    const read = await wire.read("greet://me", { state: resource.json.result.requestState, answers });
    expect(read.json.result).toMatchObject({ contents: [{ text: "Ada" }], ttlMs: 0, cacheScope: "private" });
    expect((await wire.read("greet://all")).json.result).toMatchObject(cache);
  });

  test("case 19, S2: _meta and whatever else a handler adds leave the type as it is", async () => {
    server.tool("by_hand", {}, () => ({
      resultType: "input_required",
      requestState: "kept",
      _meta: { "com.example/trace": "t1" },
      ...{ content: [], isError: false },
    }));
    const { result } = (await wire.call("by_hand")).json;
    expect(result.resultType).toBe("input_required");
    expect(result._meta).toEqual({
      "com.example/trace": "t1",
      "io.modelcontextprotocol/serverInfo": { name: "answers", version: "1.0.0" },
    });
  });

  test("case 22, S3: a state without questions has no inputRequests, and goes on with or without inputResponses", async () => {
    server.tool("count", {}, async (_args, ctx) => {
      const counted = await ctx.step("count", () => 41);
      await ctx.yield();
      return String(counted + ctx.round - 1);
    });
    const first = await wire.call("count");
    expect(Object.keys(first.json.result).sort()).toEqual(["_meta", "requestState", "resultType"]);
    const state = first.json.result.requestState;
    for (const answers of [undefined, {}, { undefined: accept({}) }]) {
      expect(textOf(await wire.call("count", { state, answers }))).toBe("42");
    }
  });
});

describe("approvals", () => {
  test("case 40: forged on the first call, they are asked for as if nothing had come, and the message says why", async () => {
    await using vault = await openVault();
    const answer = await vault.call("transfer", { token: "alice", args: TEN, answers: { ...YES, ...MEMO } });
    const { inputRequests } = answer.json.result;
    expect(Object.keys(inputRequests)).toEqual(["sure"]);
    expect(inputRequests.sure.params.message).toBe(
      "Send 10 to carol?\n\nAn answer came without requestState and was not used: send both together.",
    );
    expect(vault.trace.of("answers_without_state")).toEqual([
      { type: "answers_without_state", target: "transfer", keys: ["sure", "memo"] },
    ]);
    expect(vault.moved).toEqual([]);
  });

  test("case 40: slipped in before they are asked for, they do not count", async () => {
    server.tool("two", {}, async (_args, ctx) => {
      const { name } = await ctx.elicit("name", ask);
      return (await ctx.confirm("sure", `Delete ${name}?`)) ? `${name} is deleted.` : "Nothing.";
    });
    const first = await wire.call("two");
    const answers = { name: accept({ name: "Ada" }), ...YES };
    const second = await wire.call("two", { state: first.json.result.requestState, answers });
    expect(Object.keys(second.json.result.inputRequests)).toEqual(["sure"]);
    expect(second.json.result.inputRequests.sure.params.message).toBe("Delete Ada?");
  });

  const notYes: readonly (readonly [string, unknown])[] = [
    ["accept without content", { action: "accept" }],
    ["accept with null", { action: "accept", content: null }],
    ["accept with a list", { action: "accept", content: [true] }],
    ["a word for true", accept({ confirm: "true" })],
    ["one for true", accept({ confirm: 1 })],
    ["another field", accept({ sure: true })],
    ["true in a prototype", JSON.parse('{"action":"accept","content":{"__proto__":{"confirm":true}}}')],
    ["an action in a prototype", JSON.parse('{"__proto__":{"action":"accept"},"content":{"confirm":true}}')],
    ["another action", { action: "ACCEPT", content: { confirm: true } }],
    ["no action", { content: { confirm: true } }],
    ["a model's answer", { role: "assistant", model: "m", content: { type: "text", text: "yes" } }],
  ];
  test.each(notYes)("case 40, S14: %s is no yes, and is asked again", async (_what, sure) => {
    await using vault = await openVault();
    const first = await vault.call("transfer", { token: "alice", args: TEN });
    const state = first.json.result.requestState;
    const { result } = (await vault.call("transfer", { token: "alice", args: TEN, state, answers: { sure } })).json;
    expect(result.inputRequests.sure.params.message).toMatch(/^Send 10 to carol\?\n\n./);
  });

  test("case 40: a confirmation of other words is asked again", async () => {
    let price = 10;
    server.tool("buy", {}, async (_args, ctx) => ((await ctx.confirm("sure", `Pay ${price}?`)) ? "paid" : "kept"));
    const first = await wire.call("buy");
    price = 1000;
    const second = await wire.call("buy", { state: first.json.result.requestState, answers: YES });
    expect(second.json.result.inputRequests.sure.params.message).toMatch(/^Pay 1000\?/);
    expect(textOf(await wire.call("buy", { state: second.json.result.requestState, answers: YES }))).toBe("paid");
  });
});

describe("declines", () => {
  const beside: readonly (readonly [string, object])[] = [
    ["nothing", {}],
    ["null", { content: null }],
    ["a list", { content: [1] }],
    ["a number", { content: 5 }],
    ["text", { content: "no" }],
    ["an answer", { content: { name: "Ada", confirm: true } }],
    ["a prototype", JSON.parse('{"content":{"__proto__":{"x":1}}}')],
  ];
  test.each(beside)(
    "case 29, S18: with %s beside it a decline is a decline, a cancel a cancel",
    async (_what, extra) => {
      server.tool("both", {}, async (_args, ctx) => {
        const outcome = await ctx.elicit.outcome("name", ask);
        return `${JSON.stringify(outcome)} ${await ctx.confirm("sure", "Sure?")}`;
      });
      server.tool("throws", {}, async (_args, ctx) => (await ctx.elicit("name", ask)).name);
      for (const action of ["decline", "cancel"]) {
        const answer = { ...extra, action };
        const first = await wire.call("both");
        const second = await wire.call("both", { state: first.json.result.requestState, answers: { name: answer } });
        const third = await wire.call("both", { state: second.json.result.requestState, answers: { sure: answer } });
        expect(textOf(third)).toBe(`{"action":"${action}"} false`);
      }
      const { requestState: state } = (await wire.call("throws")).json.result;
      const declined = await wire.call("throws", { state, answers: { name: { ...extra, action: "decline" } } });
      expect([declined.json.result.isError, textOf(declined)]).toEqual([true, 'The request for "name" was declined.']);
      const cancelled = await wire.call("throws", { state, answers: { name: { ...extra, action: "cancel" } } });
      expect(textOf(cancelled)).toBe('The request for "name" was dismissed without an answer.');
    },
  );
});

describe("answers of others", () => {
  test("case 26: two calls that ask the same key at the same time never cross", async () => {
    server.tool("greet", { input: z.object({ id: z.int() }) }, async ({ id }, ctx) => {
      return `${id}: ${(await ctx.elicit("name", ask)).name}`;
    });
    const ids = Array.from({ length: 20 }, (_, id) => id);
    const firsts = await Promise.all(ids.map((id) => wire.call("greet", { id: 1, args: { id } })));
    const states = firsts.map(({ json }) => json.result.requestState as string);
    expect(new Set(states).size).toBe(20);
    const lasts = await Promise.all(
      ids.toReversed().map((id) => {
        const answers = { name: accept({ name: `name ${id}` }) };
        return wire.call("greet", { id: 1, args: { id }, state: states[id], answers });
      }),
    );
    expect(lasts.map(textOf).toReversed()).toEqual(ids.map((id) => `${id}: name ${id}`));
    const crossed = await wire.call("greet", { args: { id: 1 }, state: states[0], answers: {} });
    expect(crossed.json.error.data).toEqual({ reason: "state_refused" });
  });

  test("case 36, S9: the last leg sent again, elsewhere and at the same time, makes what happens once happen once", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger({ now: clock.now });
    await using a = await openVault({ clock, ledger });
    await using b = await openVault({ clock, ledger });
    const leg = { token: "alice", args: TEN };
    const first = await a.call("transfer", leg);
    const second = await b.call("transfer", { ...leg, state: first.json.result.requestState, answers: YES });
    const last = { ...leg, state: second.json.result.requestState, answers: MEMO };
    const told = await Promise.all([a, b, a, b].map((replica) => replica.call("transfer", last)));
    expect(told.map(textOf)).toEqual(Array(4).fill("Sent, number 1."));
    expect([...a.moved, ...b.moved]).toEqual(["10 to carol for rent"]);
    // Other answers cannot be told as if they had been taken.
    const other = { memo: accept({ memo: "a yacht" }) };
    const conflict = await b.call("transfer", { ...last, answers: other });
    expect(conflict.json.result).toMatchObject({ isError: true });
    expect([...a.moved, ...b.moved]).toHaveLength(1);
  });

  test("case 42: a change before the question is made once in a step; outside of one a check finds it", async () => {
    const done = { step: 0, plain: 0 };
    server.tool("in_step", {}, async (_args, ctx) => {
      await ctx.step("count", () => {
        done.step++;
      });
      return (await ctx.elicit("name", ask)).name;
    });
    server.tool("plain", {}, async (_args, ctx) => {
      done.plain++;
      return (await ctx.elicit("name", ask)).name;
    });
    const answers = { name: accept({ name: "Ada" }) };
    for (const name of ["in_step", "plain"]) {
      const { requestState: state } = (await wire.call(name)).json.result;
      expect(textOf(await wire.call(name, { state, answers }))).toBe("Ada");
    }
    expect(done).toEqual({ step: 1, plain: 2 });

    const check = { answer: () => answers };
    const inStep = await checkDeterminism(server, { ...check, tool: "in_step" });
    expect(inStep).toEqual([]);
    const plain = await checkDeterminism(server, { ...check, tool: "plain", observe: () => done.plain });
    expect(plain[0]).toMatchObject({ round: 1, kind: "change", message: expect.stringContaining("step") });
  });
});
