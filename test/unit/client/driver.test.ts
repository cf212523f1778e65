import { describe, expect, test, vi } from "vitest";
import { connect, type FormAsk, isStateRefused, type RoundInfo } from "../../../src/client.ts";
import { form, inputRequired, type MemoryTransport, memory, text } from "./fixtures.ts";

const NAME = { github_login: form({ name: { type: "string" } }, ["name"], "Please provide your GitHub username") };

function paramsOf(transport: MemoryTransport): Record<string, unknown>[] {
  return transport.requests.map(({ params }) => {
    const { _meta, ...rest } = params ?? {};
    return rest;
  });
}

/** Answers the first call with `first`, the later ones with text. */
function once(first: unknown): MemoryTransport {
  let calls = 0;
  return memory(() => (calls++ === 0 ? first : text("done")));
}

describe("a retry", () => {
  test("C3, C6: has a fresh id, and repeats the params with answers and state added", async () => {
    const transport = once(inputRequired(NAME, "opaque"));
    const client = await connect(transport, { form: () => ({ name: "octocat" }) });
    const result = await client.callTool("get_weather", { location: "New York" });
    expect(result.content).toEqual([{ type: "text", text: "done" }]);
    expect(transport.requests.map(({ id }) => id)).toEqual([1, 2]);
    expect(paramsOf(transport)).toEqual([
      { name: "get_weather", arguments: { location: "New York" } },
      {
        name: "get_weather",
        arguments: { location: "New York" },
        inputResponses: { github_login: { action: "accept", content: { name: "octocat" } } },
        requestState: "opaque",
      },
    ]);
  });

  test("comes again when a closing server did not take it, and nobody is asked again", async () => {
    const closing = { error: { code: 50300, message: "The server is closing. Try again." } };
    const answers = [closing, inputRequired(NAME, "opaque"), closing, closing, text("done")];
    const transport = memory(() => answers.shift());
    const form = vi.fn(() => ({ name: "octocat" }));
    const client = await connect(transport, { form });
    expect((await client.callTool("get_weather")).content).toEqual([{ type: "text", text: "done" }]);
    expect(form).toHaveBeenCalledTimes(1);
    const retry = {
      name: "get_weather",
      arguments: {},
      inputResponses: { github_login: { action: "accept", content: { name: "octocat" } } },
      requestState: "opaque",
    };
    const first = { name: "get_weather", arguments: {} };
    expect(paramsOf(transport)).toEqual([first, first, retry, retry, retry]);
    expect(transport.requests.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
  });

  test.each([
    ["four times at most", "memory", 50300, 4],
    ["not by stdio, where no other process will come", "stdio", 50300, 1],
    ["not after an internal error, which may have come of a call", "memory", -32603, 1],
    ["not after a limit, which may take long", "memory", 42900, 1],
  ] as const)("comes again %s", async (_what, kind, code, times) => {
    const discovered = { supportedVersions: ["2026-07-28"], capabilities: {}, ttlMs: 0, cacheScope: "private" };
    const transport = memory(
      ({ method }) => (method === "server/discover" ? discovered : { error: { code, message: "no" } }),
      kind,
    );
    const client = await connect(transport);
    await expect(client.callTool("work")).rejects.toMatchObject({ name: "RpcError", code });
    expect(transport.requests.filter(({ method }) => method === "tools/call")).toHaveLength(times);
  });

  test("C2: brings no state when there was none", async () => {
    const transport = once(inputRequired(NAME));
    const client = await connect(transport, { form: () => ({ name: "octocat" }) });
    await client.callTool("get_weather");
    expect(Object.keys(paramsOf(transport)[1] ?? {})).toEqual(["name", "arguments", "inputResponses"]);
  });

  test.each([
    ["+/=", "a+b/c=="],
    ["emoji", "state 🌍 é"],
    ["64 KiB", "x".repeat(65_536)],
    ["an empty string", ""],
    ["half a surrogate pair", "\ud83d"],
    ["what looks like JSON", '{"a":1}'],
  ])("C2, case 24: a state of %s comes back exactly", async (_, state) => {
    const transport = once(inputRequired(NAME, state));
    const client = await connect(transport, { form: () => ({ name: "octocat" }) });
    await client.callTool("get_weather");
    expect(paramsOf(transport)[1]?.requestState).toBe(state);
  });

  test("C1, case 22: after a state alone comes at once, with the state and nothing else", async () => {
    const transport = once(inputRequired(undefined, "ticket"));
    const client = await connect(transport);
    await client.callTool("work", { a: 1 });
    expect(paramsOf(transport)).toEqual([
      { name: "work", arguments: { a: 1 } },
      { name: "work", arguments: { a: 1 }, requestState: "ticket" },
    ]);
  });

  test("case 22: an empty map of questions with a state is a state alone", async () => {
    const transport = once(inputRequired({}, "ticket"));
    await (await connect(transport)).callTool("work");
    expect(Object.keys(paramsOf(transport)[1] ?? {})).toEqual(["name", "arguments", "requestState"]);
  });

  test("C6: repeats the params even when the caller has changed them meanwhile", async () => {
    const args = { list: ["a"] };
    const transport = once(inputRequired(NAME, "s"));
    const client = await connect(transport, {
      form: () => {
        args.list.push("b");
        return { name: "x" };
      },
    });
    await client.callTool("work", args);
    expect(paramsOf(transport)[1]?.arguments).toEqual({ list: ["a"] });
  });

  test("C6: repeats the params even when they were changed while the server worked, or in a pause", async () => {
    const args: Record<string, unknown> = { list: ["a"], at: new Date(0), deep: JSON.parse('{"__proto__":{"x":1}}') };
    const script = [inputRequired(undefined, "1"), inputRequired(undefined, "2"), text("done")];
    const transport = memory(() => {
      args.list = "changed";
      return script.shift();
    });
    await (await connect(transport, { pace: () => 1 })).callTool("work", args);
    const sent = paramsOf(transport).map((params) => JSON.stringify(params.arguments));
    expect(sent).toEqual(Array(3).fill('{"list":["a"],"at":"1970-01-01T00:00:00.000Z","deep":{"__proto__":{"x":1}}}'));
  });
});

describe("rounds", () => {
  test("C1: questions of one round are asked at the same time, and answered together", async () => {
    let open = 0;
    let most = 0;
    const transport = once(
      inputRequired({ a: form({ v: { type: "string" } }), b: form({ v: { type: "string" } }) }, "s"),
    );
    const client = await connect(transport, {
      form: async (ask) => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setTimeout(resolve, 5));
        open--;
        return { v: ask.key };
      },
    });
    await client.callTool("work");
    expect(most).toBe(2);
    expect(paramsOf(transport)[1]?.inputResponses).toEqual({
      a: { action: "accept", content: { v: "a" } },
      b: { action: "accept", content: { v: "b" } },
    });
  });

  test("C4, case 26: two calls that ask the same key are never crossed", async () => {
    const transport = memory(({ params }) => {
      const { name, inputResponses, requestState } = params ?? {};
      if (inputResponses === undefined)
        return inputRequired({ who: form({ v: { type: "string" } }, [], String(name)) }, `state of ${name}`);
      return text(JSON.stringify([name, requestState, inputResponses]));
    });
    const client = await connect(transport, {
      form: async ({ message }) => {
        await new Promise((resolve) => setTimeout(resolve, message === "one" ? 10 : 1));
        return { v: message };
      },
    });
    const [one, two] = await Promise.all([client.callTool("one"), client.callTool("two")]);
    expect(one.content).toEqual([
      { type: "text", text: '["one","state of one",{"who":{"action":"accept","content":{"v":"one"}}}]' },
    ]);
    expect(two.content).toEqual([
      { type: "text", text: '["two","state of two",{"who":{"action":"accept","content":{"v":"two"}}}]' },
    ]);
    expect(new Set(transport.requests.map(({ id }) => id)).size).toBe(4);
  });

  test("C9: end after maxRounds, 32 by default", async () => {
    const transport = memory(() => inputRequired(undefined, "again"));
    const client = await connect(transport, { pace: () => 0 });
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "round_limit" });
    expect(transport.requests).toHaveLength(33);
    await expect(client.callTool("work", {}, { maxRounds: 2 })).rejects.toMatchObject({ code: "round_limit" });
    expect(transport.requests).toHaveLength(36);
  });

  test("C1: state-only retries are paced by their number in a row", async () => {
    const script = [
      inputRequired(undefined, "1"),
      inputRequired(undefined, "2"),
      inputRequired(NAME, "3"),
      inputRequired(undefined, "4"),
      text("done"),
    ];
    const transport = memory(() => script.shift());
    const paced: number[] = [];
    const client = await connect(transport, {
      form: () => ({ name: "x" }),
      pace: (attempt) => {
        paced.push(attempt);
        return 0;
      },
    });
    await client.callTool("work");
    expect(paced).toEqual([1, 2, 1]);
  });

  test("the default pace starts at once and doubles from 50 ms to 2 s", async () => {
    const { defaultPace } = await import("../../../src/client/pause.ts");
    expect(defaultPace(1)).toBe(0);
    for (let attempt = 2; attempt < 20; attempt++) {
      const full = Math.min(2_000, 50 * 2 ** (attempt - 2));
      expect(defaultPace(attempt)).toBeGreaterThanOrEqual(full / 2);
      expect(defaultPace(attempt)).toBeLessThanOrEqual(full);
    }
  });

  test("each is told with its questions, its size and its times", async () => {
    const told: RoundInfo[] = [];
    const transport = once({ ...inputRequired(NAME, "stäte"), _meta: { instance: "a" } });
    const client = await connect(transport, {
      form: async () => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        return { name: "x" };
      },
    });
    await client.callTool("work", {}, { onRound: (round) => told.push(round) });
    expect(told).toMatchObject([
      { round: 1, done: false, requests: NAME, stateBytes: 6, meta: { instance: "a" } },
      { round: 2, done: true, requests: {}, stateBytes: undefined, meta: undefined },
    ]);
    expect(told[1]?.waitMs).toBeGreaterThan(25);
    expect(told[0]?.ms).toBeLessThan(25);
  });

  test("prompts and resources have rounds too", async () => {
    const prompt = await connect(
      memory(({ params }) => (params?.inputResponses ? { resultType: "complete", messages: [] } : inputRequired(NAME))),
      { form: () => ({ name: "x" }) },
    );
    expect(await prompt.getPrompt("p", { a: "b" })).toMatchObject({ messages: [] });
    const resource = await connect(
      memory(({ params }) => (params?.inputResponses ? { resultType: "complete", contents: [] } : inputRequired(NAME))),
      { form: () => ({ name: "x" }) },
    );
    expect(await resource.readResource("file:///a")).toMatchObject({ contents: [] });
  });
});

describe("how a result is read", () => {
  test("C5, case 19: _meta on input_required changes nothing", async () => {
    const transport = once({
      ...inputRequired(NAME, "s"),
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "S", version: "1" } },
      content: [],
    });
    const client = await connect(transport, { form: () => ({ name: "x" }) });
    expect(await client.callTool("work")).toMatchObject({ content: [{ text: "done" }] });
  });

  test("C5: an absent type is complete", async () => {
    const client = await connect(memory(() => ({ content: [{ type: "text", text: "old" }] })));
    expect(await client.callTool("work")).toEqual({ resultType: "complete", content: [{ type: "text", text: "old" }] });
  });

  test.each([
    ["an unknown type", { resultType: "task", content: [] }],
    ["input_required with neither", inputRequired(undefined)],
    ["input_required with an empty map only", inputRequired({})],
    ["a state that is no string", { ...inputRequired(NAME), requestState: 7 }],
    ["an unknown question", inputRequired({ a: { method: "tools/call", params: {} } })],
    [
      "an unknown mode",
      inputRequired({ a: { method: "elicitation/create", params: { mode: "hologram", message: "" } } }),
    ],
    ["no content", { resultType: "complete" }],
  ])("C5: %s is an error", async (_, result) => {
    const client = await connect(
      memory(() => result),
      { form: () => ({ name: "x" }) },
    );
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "message_invalid" });
  });

  test("S1: input_required outside the three methods is an error", async () => {
    const client = await connect(
      memory(() => inputRequired(NAME, "s")),
      { form: () => ({ name: "x" }) },
    );
    await expect(client.listPrompts()).rejects.toMatchObject({ code: "message_invalid" });
    await expect(client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" })).rejects.toMatchObject({
      code: "message_invalid",
    });
  });

  test("case 20: a result with an output schema and rounds comes out untouched", async () => {
    const result = { ...text("done"), structuredContent: { n: 1 }, _meta: { x: 1 } };
    let calls = 0;
    const client = await connect(
      memory(({ method }) => {
        if (method === "tools/list")
          return {
            resultType: "complete",
            tools: [
              {
                name: "work",
                inputSchema: { type: "object" },
                outputSchema: { type: "object", properties: { n: { type: "integer" } } },
              },
            ],
          };
        return calls++ === 0 ? inputRequired(NAME, "s") : result;
      }),
      { form: () => ({ name: "x" }) },
    );
    expect(await client.callTool("work")).toEqual(result);
  });

  test("a refused state is told apart by its reason", async () => {
    const refused = { error: { code: -32602, message: "The state cannot be used", data: { reason: "state_refused" } } };
    let calls = 0;
    const client = await connect(
      memory(() => (calls++ === 0 ? inputRequired(NAME, "s") : refused)),
      { form: () => ({ name: "x" }) },
    );
    const error = await client.callTool("work").catch((thrown: unknown) => thrown);
    expect(isStateRefused(error)).toBe(true);
    const other = await (await connect(memory(() => ({ error: { code: -32602, message: "no" } }))))
      .callTool("work")
      .catch((thrown: unknown) => thrown);
    expect(isStateRefused(other)).toBe(false);
    expect(other).toMatchObject({ code: -32602, message: "no" });
  });
});

describe("case 28: the same page again after its accept", () => {
  const page = (url: string): unknown => ({
    p: { method: "elicitation/create", params: { mode: "url", message: "Open", url } },
  });

  /** Asks for the pages in turn, then is done; says how often which pace was asked for. */
  async function paces(urls: string[], answer: "accept" | "decline"): Promise<number[]> {
    let round = 0;
    const asked: number[] = [];
    const transport = memory(() => {
      const url = urls[round++];
      return url === undefined ? text("done") : inputRequired(page(url), `${round}`);
    });
    const pace = (attempt: number): number => {
      asked.push(attempt);
      return 0;
    };
    const client = await connect(transport, { url: () => answer, pace });
    await client.callTool("work");
    expect(transport.requests).toHaveLength(urls.length + 1);
    return asked;
  }

  test("is paced as rounds that ask nothing are", async () => {
    expect(
      await paces(["https://a.example/", "https://a.example/", "https://a.example/", "https://a.example/"], "accept"),
    ).toEqual([1, 2, 3]);
  });

  test("another page is not, nor one that was declined", async () => {
    expect(await paces(["https://a.example/", "https://b.example/", "https://a.example/"], "accept")).toEqual([]);
    expect(await paces(["https://a.example/", "https://a.example/"], "decline")).toEqual([]);
  });

  test("by hand too", async () => {
    let round = 0;
    const asked: number[] = [];
    const transport = memory(() =>
      round++ < 2 ? inputRequired(page("https://a.example/"), `${round}`) : text("done"),
    );
    const client = await connect(transport, {
      pace: (attempt) => {
        asked.push(attempt);
        return 0;
      },
    });
    let started = await client.start("tools/call", { name: "work" });
    while (!started.done) {
      started.answer("p", "accept");
      started = await started.continue();
    }
    expect(asked).toEqual([1]);
  });
});

describe("time", () => {
  test("C9, case 35: what a person takes is outside the time limit, and no request is open meanwhile", async () => {
    vi.useFakeTimers();
    try {
      let open = 0;
      let calls = 0;
      const transport = memory(async () => {
        open++;
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        open--;
        return calls++ === 0 ? inputRequired(NAME, "s") : text("done");
      });
      let openWhileAsked = -1;
      const client = await connect(transport, {
        form: async () => {
          openWhileAsked = open;
          await new Promise((resolve) => setTimeout(resolve, 61_000));
          return { name: "x" };
        },
      });
      const result = client.callTool("work");
      await vi.advanceTimersByTimeAsync(70_000);
      expect(await result).toMatchObject({ content: [{ text: "done" }] });
      expect(openWhileAsked).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("C9: a server that does not answer is given up after the limit", async () => {
    const client = await connect(
      memory(() => new Promise(() => {})),
      { legTimeoutMs: 20 },
    );
    await expect(client.callTool("work")).rejects.toMatchObject({
      code: "timeout",
      message: expect.stringContaining("20 ms"),
    });
    await expect(client.callTool("work", {}, { timeoutMs: 5 })).rejects.toMatchObject({
      message: expect.stringContaining("5 ms"),
    });
  });

  test("C9: an abort ends a call while the server works", async () => {
    const abort = new AbortController();
    const client = await connect(memory(() => new Promise(() => {})));
    const call = client.callTool("work", {}, { signal: abort.signal });
    setTimeout(() => abort.abort("enough"), 5);
    await expect(call).rejects.toMatchObject({ code: "aborted", cause: "enough" });
    await expect(client.callTool("work", {}, { signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
  });

  test("C9: an abort ends a call while a person thinks, and tells the handler", async () => {
    const abort = new AbortController();
    const transport = once(inputRequired(NAME, "s"));
    let ask: FormAsk | undefined;
    const client = await connect(transport, {
      form: (asked) => {
        ask = asked;
        setTimeout(() => abort.abort(), 5);
        return new Promise(() => {});
      },
    });
    await expect(client.callTool("work", {}, { signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
    expect(ask?.signal.aborted).toBe(true);
    expect(transport.requests).toHaveLength(1);
  });

  test("C9: an abort ends the pause before a retry", async () => {
    const abort = new AbortController();
    const client = await connect(
      memory(() => inputRequired(undefined, "s")),
      { pace: () => 60_000 },
    );
    setTimeout(() => abort.abort(), 5);
    await expect(client.callTool("work", {}, { signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
  });

  test("closing the client ends what it waits for", async () => {
    const client = await connect(once(inputRequired(NAME, "s")), { form: () => new Promise(() => {}) });
    const call = client.callTool("work");
    setTimeout(() => void client.close(), 5);
    await expect(call).rejects.toMatchObject({ code: "closed" });
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "closed" });
  });

  test("twenty calls may share a signal, which has one listener for them all", async () => {
    const abort = new AbortController();
    const added = vi.spyOn(abort.signal, "addEventListener");
    const client = await connect(
      memory(() => inputRequired(NAME, "s")),
      { form: () => new Promise(() => {}) },
    );
    const calls = Array.from({ length: 20 }, () => client.callTool("work", {}, { signal: abort.signal }));
    setTimeout(() => abort.abort(), 20);
    for (const call of await Promise.allSettled(calls)) expect(call).toMatchObject({ reason: { code: "aborted" } });
    expect(added.mock.calls.length).toBeLessThan(5);
  });

  test("listeners are taken off a signal that outlives its calls", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    let calls = 0;
    const client = await connect(
      memory(() => (calls++ % 2 === 0 ? inputRequired(NAME, "s") : text("done"))),
      { form: () => ({ name: "x" }) },
    );
    await client.callTool("work", {}, { signal });
    expect(added.mock.calls.length).toBeGreaterThan(0);
    expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  });
});
