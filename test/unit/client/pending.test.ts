import { describe, expect, test } from "vitest";
import { connect, isStateRefused, type PendingRound, type Started } from "../../../src/client.ts";
import { RpcError } from "../../../src/errors.ts";
import { form, inputRequired, type MemoryTransport, memory, sendJson, serve, TASKS, text } from "./fixtures.ts";

const LOGIN = form({ name: { type: "string", minLength: 2 } }, ["name"], "Please provide your GitHub username");
const PAGE = { method: "elicitation/create", params: { mode: "url", message: "Open", url: "https://a.example/" } };
const MODEL = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };

/** Asks for a login, then for a confirmation, then is done; says what it has got. */
function threeRounds(): MemoryTransport {
  return memory(({ params }) => {
    const { inputResponses, requestState } = params ?? {};
    if (requestState === undefined) return inputRequired({ login: LOGIN, page: PAGE }, "one");
    if (requestState === "one") return inputRequired({ sure: form({ ok: { type: "boolean" } }, ["ok"]) }, "two");
    return text(JSON.stringify([requestState, inputResponses]));
  });
}

function waiting<M extends "tools/call">(started: Started<M>): PendingRound<M> {
  if (started.done) throw new Error("it was finished");
  return started;
}

describe("by hand", () => {
  test("C1: what is asked, the answers, and on", async () => {
    const transport = threeRounds();
    const client = await connect(transport);
    const first = waiting(await client.start("tools/call", { name: "work", arguments: { a: 1 } }));
    expect(first).toMatchObject({
      done: false,
      method: "tools/call",
      target: "work",
      round: 1,
      server: { address: "memory" },
      openKeys: ["login", "page"],
    });
    expect({ ...first.requests }).toEqual({ login: LOGIN, page: PAGE });
    first.answer("page", "accept");
    expect(first.openKeys).toEqual(["login"]);
    await expect(first.continue()).rejects.toMatchObject({
      code: "no_answer",
      message: expect.stringContaining("login"),
    });
    first.answer("login", { name: "octocat" });
    const second = waiting(await first.continue());
    expect(second).toMatchObject({ round: 2, openKeys: ["sure"] });
    second.answer("sure", { action: "accept", content: { ok: true } });
    expect(await second.continue()).toEqual({
      done: true,
      result: text('["two",{"sure":{"action":"accept","content":{"ok":true}}}]'),
    });
    expect(transport.requests.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(transport.requests[1]?.params).toMatchObject({
      name: "work",
      arguments: { a: 1 },
      inputResponses: { login: { action: "accept", content: { name: "octocat" } }, page: { action: "accept" } },
      requestState: "one",
    });
  });

  test("a call that asks nothing is finished at once, states alone are played on", async () => {
    let calls = 0;
    const client = await connect(
      memory(() => (calls++ < 2 ? inputRequired(undefined, `${calls}`) : text("done"))),
      { pace: () => 0 },
    );
    expect(await client.start("tools/call", { name: "work" })).toEqual({ done: true, result: text("done") });
  });

  test("C9: when the request after a state alone fails, the round is handed out, also as data, and goes on", async () => {
    let calls = 0;
    const transport = memory(({ params }) => {
      calls += 1;
      if (calls === 2 || calls === 3) throw new Error("the network is gone");
      return calls === 1 ? inputRequired(undefined, "ticket") : text(`done with ${params?.requestState}`);
    });
    const client = await connect(transport, { pace: () => 0 });
    const first = waiting(await client.start("tools/call", { name: "work" }));
    expect(first).toMatchObject({ round: 1, openKeys: [] });
    await expect(first.continue()).rejects.toThrow("the network is gone");
    expect(calls).toBe(3);
    const resumed = client.resume(JSON.stringify(first));
    expect(await resumed.continue()).toEqual({ done: true, result: text("done with ticket") });
  });

  test("C9: a call that is given up, or whose state is refused, is not handed out again", async () => {
    const ending = new AbortController();
    let calls = 0;
    const refused = new RpcError(-32602, "The request state is not valid.", { reason: "state_refused" });
    const client = await connect(
      memory(() => {
        calls += 1;
        if (calls === 1 || calls === 3) return inputRequired(undefined, "ticket");
        if (calls === 2) throw refused;
        ending.abort();
        throw new Error("the network is gone");
      }),
      { pace: () => 0 },
    );
    await expect(client.start("tools/call", { name: "work" })).rejects.toBe(refused);
    await expect(client.start("tools/call", { name: "work" }, { signal: ending.signal })).rejects.toThrow();
    expect(calls).toBe(4);
  });

  test("an answer that does not fit says why, and may be given again", async () => {
    const client = await connect(threeRounds());
    const first = waiting(await client.start("tools/call", { name: "work" }));
    expect(() => first.answer("login", { name: "x" })).toThrow(
      expect.objectContaining({ code: "no_answer", message: expect.stringContaining("at least 2") }),
    );
    expect(() => first.answer("page", { name: "x" })).toThrow(expect.objectContaining({ code: "no_answer" }));
    expect(() => first.answer("toString", "decline")).toThrow(
      expect.objectContaining({ code: "invalid_options", message: expect.stringContaining("login, page") }),
    );
    first.answer("login", "decline");
    first.answer("login", { name: "xy" });
    expect({ ...first.toJSON().inputResponses }).toEqual({ login: { action: "accept", content: { name: "xy" } } });
  });

  test.each([
    [undefined, { elicitation: { form: {}, url: {} } }],
    [["form"], { elicitation: { form: {} } }],
    [["sampling", "roots"], { sampling: {}, roots: {} }],
    [[], {}],
  ] as const)("C10: what is answered by hand (%j) is declared", async (answers, declared) => {
    const transport = threeRounds();
    const client = await connect(transport);
    await client.start("tools/call", { name: "work" }, answers === undefined ? {} : { answers }).catch(() => {});
    const meta = transport.requests[0]?.params?._meta as Record<string, unknown>;
    expect(meta["io.modelcontextprotocol/clientCapabilities"]).toEqual({ ...declared, ...TASKS });
  });

  test("C10: a question of a kind that is not answered by hand is an error", async () => {
    const client = await connect(memory(() => inputRequired({ a: MODEL })));
    await expect(client.start("tools/call", { name: "work" })).rejects.toMatchObject({ code: "no_handler" });
    const pending = waiting(await client.start("tools/call", { name: "work" }, { answers: ["sampling"] }));
    pending.answer("a", { role: "assistant", model: "m", content: { type: "text", text: "x" } });
    expect(pending.openKeys).toEqual([]);
  });

  test("the retry repeats the params as they were at the start", async () => {
    const transport = threeRounds();
    const args = { list: ["a"] };
    const first = waiting(await (await connect(transport)).start("tools/call", { name: "work", arguments: args }));
    args.list.push("b");
    first.answer("login", "decline");
    first.answer("page", "decline");
    await first.continue();
    expect(transport.requests[1]?.params?.arguments).toEqual({ list: ["a"] });
  });

  test("C9: maxRounds counts here too", async () => {
    const client = await connect(threeRounds(), { maxRounds: 1 });
    const first = waiting(await client.start("tools/call", { name: "work" }));
    first.answer("login", "decline");
    first.answer("page", "decline");
    await expect(first.continue()).rejects.toMatchObject({ code: "round_limit" });
  });
});

describe("C11: days later, in another process", () => {
  test("the round is plain data, and goes on from there with fresh ids", async () => {
    const before = await connect(threeRounds());
    const first = waiting(await before.start("tools/call", { name: "work", arguments: { a: 1 } }));
    first.answer("page", "accept");
    const data = JSON.parse(JSON.stringify(first));
    expect(data).toEqual({
      type: "volley-mcp/pending-round",
      version: 1,
      address: "memory",
      method: "tools/call",
      params: { name: "work", arguments: { a: 1 } },
      round: 1,
      lastId: 1,
      answers: ["form", "url"],
      requests: { login: LOGIN, page: PAGE },
      inputResponses: { page: { action: "accept" } },
      requestState: "one",
    });
    await before.close();

    const transport = threeRounds();
    const after = await connect(transport);
    const resumed = after.resume(data);
    expect(resumed).toMatchObject({ round: 1, openKeys: ["login"], target: "work" });
    resumed.answer("login", { name: "octocat" });
    expect(await resumed.continue()).toMatchObject({ done: false, round: 2 });
    expect(transport.requests[0]).toMatchObject({
      id: 2,
      params: { requestState: "one", name: "work", arguments: { a: 1 } },
    });
    expect(after.resume(JSON.stringify(first)).openKeys).toEqual(["login"]);
  });

  test("C2: without a state there is none after it either", async () => {
    const client = await connect(memory(() => inputRequired({ login: LOGIN })));
    const data = JSON.parse(JSON.stringify(await client.start("tools/call", { name: "work" })));
    expect(data).not.toHaveProperty("requestState");
    const transport = memory(() => text("done"));
    const resumed = (await connect(transport)).resume(data);
    resumed.answer("login", "decline");
    await resumed.continue();
    expect(transport.requests[0]?.params).not.toHaveProperty("requestState");
  });

  test("a state that is refused is told apart, so that a host can offer to start again", async () => {
    await using server = await serve(({ id, method, params }, reply) => {
      if (method === "tools/list") return { resultType: "complete", tools: [] };
      if (params.requestState === undefined) return inputRequired({ login: LOGIN }, "s");
      return sendJson(reply, 400, {
        jsonrpc: "2.0",
        id,
        error: { code: -32602, message: "The state cannot be used", data: { reason: "state_refused" } },
      });
    });
    const client = await connect(server.url);
    const pending = waiting(await client.start("tools/call", { name: "work" }));
    pending.answer("login", "decline");
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await pending.continue().catch((thrown: unknown) => thrown);
      expect(isStateRefused(error)).toBe(true);
    }
    expect(new Set(server.seen.map(({ id }) => id)).size).toBe(server.seen.length);
    await client.close();
  });

  test("case 23: keys like __proto__ survive", async () => {
    const requests = JSON.parse(`{"__proto__":${JSON.stringify(LOGIN)},"constructor":${JSON.stringify(LOGIN)}}`);
    const asking = memory(() => inputRequired(requests, "s"));
    const data = JSON.stringify(await (await connect(asking)).start("tools/call", { name: "work" }));
    const transport = memory(() => text("done"));
    const resumed = (await connect(transport)).resume(JSON.parse(data));
    expect(resumed.openKeys).toEqual(["__proto__", "constructor"]);
    for (const key of resumed.openKeys) resumed.answer(key, "decline");
    await resumed.continue();
    expect(JSON.stringify(transport.requests[0]?.params?.inputResponses)).toBe(
      '{"__proto__":{"action":"decline"},"constructor":{"action":"decline"}}',
    );
  });

  test.each([
    null,
    7,
    "no json",
    {},
    { type: "volley-mcp/pending-round", version: 2 },
    [],
    '{"type":"volley-mcp/pending-round"}',
  ])("%j is no pending round", async (data) => {
    const client = await connect(memory(() => text("done")));
    expect(() => client.resume(data)).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });
});
