// Rules of the rounds that a client can see on the wire.
import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { type Context, createServer, RpcError, type Server } from "../../src/index.ts";
import { accept, headersFor, message, serve, tracing, type Wire } from "./wire.ts";

const Name = z.object({ name: z.string().min(2) });
const ask = { message: "Name?", schema: Name };
const ada = { name: accept({ name: "Ada" }) };

let server: Server;
let wire: Wire;
let trace: ReturnType<typeof tracing>;
beforeEach(async () => {
  trace = tracing();
  server = createServer({
    name: "rules",
    version: "1.0.0",
    singleInstance: true,
    trace: trace.trace,
    development: true,
  });
  wire = await serve(server);
});
afterEach(() => wire[Symbol.asyncDispose]());

const textOf = (answer: Awaited<ReturnType<Wire["call"]>>): string => answer.json.result.content[0].text;
const stateOf = (answer: Awaited<ReturnType<Wire["call"]>>): string => answer.json.result.requestState;

describe("results", () => {
  beforeEach(() => {
    server.tool("hello", {}, () => "Hello.");
    server.prompt(
      "hello",
      { arguments: z.object({ to: z.string() }), complete: { to: () => ["you"] } },
      () => "Hello.",
    );
    server.resource("hello", "hello://all", {}, () => "Hello.");
    server.resourceTemplate("hello", "hello://{name}/x", {}, ({ name }) => name);
  });
  const methods: readonly (readonly [string, object])[] = [
    ["server/discover", {}],
    ["tools/list", {}],
    ["prompts/list", {}],
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["completion/complete", { ref: { type: "ref/prompt", name: "hello" }, argument: { name: "to", value: "" } }],
    ["tools/call", { name: "hello" }],
    ["prompts/get", { name: "hello", arguments: { to: "you" } }],
    ["resources/read", { uri: "hello://all" }],
  ];
  test.each(methods)("S2: %s names its resultType", async (method, params) => {
    const { result } = (await wire.send(message(method, params))).json;
    expect(result.resultType).toBe("complete");
  });

  const others = methods.slice(0, 6);
  test.each(others)("S1: %s answers at once, whatever answers and states it is sent", async (method, params) => {
    const plain = await wire.send(message(method, params));
    for (const leg of [{ answers: ada, state: "foo" }, { state: "" }, { answers: null }]) {
      expect((await wire.send(message(method, params, leg))).json).toEqual(plain.json);
    }
  });
});

describe("a handler", () => {
  test("X1: is a straight line: what was answered or done is neither asked nor done again", async () => {
    const done: string[] = [];
    server.tool("order", {}, async (_args, ctx) => {
      const id = await ctx.step("create", () => `order ${done.push("create")}`);
      const { name } = await ctx.elicit("name", ask);
      const price = await ctx.step("price", () => done.push("price") * 10);
      const isSure = await ctx.confirm("sure", `${id} for ${name}, ${price}?`);
      return `${id} ${isSure}`;
    });
    const first = await wire.call("order");
    const second = await wire.call("order", { state: stateOf(first), answers: ada });
    expect(second.json.result.inputRequests.sure.params.message).toBe("order 1 for Ada, 20?");
    const last = { state: stateOf(second), answers: { sure: accept({ confirm: true }) } };
    expect(textOf(await wire.call("order", last))).toBe("order 1 true");
    expect(done).toEqual(["create", "price"]);
  });

  test("X2: asks that are awaited together go out in one round, also behind a step and beside a slow one", async () => {
    server.tool("plan", {}, async (_args, ctx) => {
      const [who, , where] = await Promise.all([
        ctx.elicit("who", ask),
        ctx.step("slow", () => new Promise<string>((resolve) => setTimeout(() => resolve("slow"), 20))),
        ctx.step("quick", () => "q").then(() => ctx.elicit("where", ask)),
      ]);
      return `${who.name} ${where.name}`;
    });
    const first = await wire.call("plan");
    expect(Object.keys(first.json.result.inputRequests).sort()).toEqual(["where", "who"]);
    // One of them is missing: it alone is asked again.
    const second = await wire.call("plan", { state: stateOf(first), answers: { where: accept({ name: "Turin" }) } });
    expect(Object.keys(second.json.result.inputRequests)).toEqual(["who"]);
    const third = await wire.call("plan", { state: stateOf(second), answers: { who: accept({ name: "Ada" }) } });
    expect(textOf(third)).toBe("Ada Turin");
  });

  const expectMistake = async (work: (ctx: Context) => Promise<unknown>, text: RegExp): Promise<void> => {
    server.tool("mistake", {}, async (_args, ctx) => {
      await work(ctx);
      return "never";
    });
    const { result } = (await wire.call("mistake")).json;
    expect([result.isError, result.inputRequests]).toEqual([true, undefined]);
    expect(result.content[0].text).toMatch(text);
  };

  const twice: readonly (readonly [string, (ctx: Context) => Promise<unknown>])[] = [
    ["two questions", (ctx) => Promise.all([ctx.elicit("a", ask), ctx.confirm("a", "Sure?")])],
    ["the same question twice", (ctx) => Promise.all([ctx.elicit("a", ask), ctx.elicit("a", ask)])],
    ["two steps", async (ctx) => ctx.step("a", () => 1).then(() => ctx.step("a", () => 1))],
  ];
  test.each(twice)("S4: %s under one name are an error that names it and the remedy", (_what, work) =>
    expectMistake(work, /"a".*`a:\$\{id\}`/),
  );

  const mistakes: readonly (readonly [string, (ctx: Context) => Promise<unknown>, RegExp])[] = [
    ["a step that returns a function", (ctx) => ctx.step("work", () => () => 1), /"work".*function/],
    ["a question in a step", (ctx) => ctx.step("work", () => ctx.elicit("in", ask)), /"in".*inside "work".*move/],
    ["a step nobody awaits", async (ctx) => void ctx.step("left", () => 1), /"left".*await/],
    [
      "a form that is not flat",
      (ctx) => ctx.elicit("deep", { message: "?", schema: z.object({ a: z.object({ b: z.string() }) }) }),
      /\ba\b/,
    ],
  ];
  test.each(mistakes)("%s is an error that names it and the remedy, and asks nothing", (_what, work, text) =>
    expectMistake(work, text),
  );

  test("a question that changes every round is an error that names it and the remedy", async () => {
    let count = 0;
    server.tool("changes", {}, async (_args, ctx) => String(await ctx.confirm("sure", `Number ${count++}?`)));
    let answer = await wire.call("changes");
    for (let round = 2; round <= 3; round++) {
      answer = await wire.call("changes", { state: stateOf(answer), answers: { sure: accept({ confirm: true }) } });
      expect(Object.keys(answer.json.result.inputRequests)).toEqual(["sure"]);
    }
    const last = await wire.call("changes", { state: stateOf(answer), answers: { sure: accept({ confirm: true }) } });
    expect(last.json.result.isError).toBe(true);
    expect(textOf(last)).toMatch(/"sure".*step/);
  });
});

describe("answers", () => {
  let ran: number;
  beforeEach(() => {
    ran = 0;
    server.tool("greet", {}, async (_args, ctx) => {
      ran++;
      return (await ctx.elicit("name", ask)).name;
    });
  });
  const bad = { code: -32602, message: expect.stringContaining("inputResponses") };

  const noObjects = [null, 1, "x", true, []];
  test.each(noObjects)("S16: inputResponses %j, or an answer like that, is -32602 and nothing ran", async (junk) => {
    const state = stateOf(await wire.call("greet"));
    for (const leg of [{ answers: junk }, { answers: junk, state }, { answers: { name: junk }, state }]) {
      expect((await wire.call("greet", leg)).json).toEqual({ jsonrpc: "2.0", id: 1, error: bad });
    }
    expect(ran).toBe(1);
  });

  const strangers = [null, 1, "x", [], { action: "accept" }, "x".repeat(65_536), { deep: [[[[[[]]]]]] }];
  test.each(strangers)("S16, S15: an answer nobody asked for may be anything (%#)", async (junk) => {
    const state = stateOf(await wire.call("greet"));
    expect(textOf(await wire.call("greet", { state, answers: { ...ada, other: junk, "": junk } }))).toBe("Ada");
  });

  test("S14, S17: unusable answers are asked again three times with the reason, then it is a result with isError", async () => {
    let answer = await wire.call("greet");
    for (const content of [{}, { name: "A" }, { name: 1 }]) {
      answer = await wire.call("greet", { state: stateOf(answer), answers: { name: accept(content) } });
      expect(answer.json.result.inputRequests.name.params.message).toMatch(/^Name\?\n\n.*name/s);
    }
    const last = await wire.call("greet", { state: stateOf(answer), answers: { name: accept({ name: "" }) } });
    expect([last.json.result.isError, last.json.result.inputRequests]).toEqual([true, undefined]);
    expect(textOf(last)).toMatch(/^No usable answer to "name" came in 4 tries\. "name" must/);
  });

  test("S12: a client that comes back without an answer, much later or never, costs nothing", async () => {
    const first = await wire.call("greet");
    const second = await wire.call("greet", { state: stateOf(first) });
    expect(Object.keys(second.json.result.inputRequests)).toEqual(["name"]);
    expect(textOf(await wire.call("greet", { state: stateOf(first), answers: ada }))).toBe("Ada");
    // Rounds that wait do not hold up the end of a server.
    const started = performance.now();
    await server.close();
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  test("S26: roots are file URIs, or they are asked for again", async () => {
    server.tool("where", {}, async (_args, ctx) => JSON.stringify(await ctx.listRoots("where")));
    let answer = await wire.call("where");
    for (const uri of ["http://example.com/", "file:/x", "file:///a\u0000b"]) {
      answer = await wire.call("where", { state: stateOf(answer), answers: { where: { roots: [{ uri }] } } });
      expect(Object.keys(answer.json.result.inputRequests)).toEqual(["where"]);
    }
    const answers = { where: { roots: [{ uri: "file:///srv", name: "srv", owner: "root" }] } };
    const last = await wire.call("where", { state: stateOf(answer), answers });
    expect(JSON.parse(textOf(last))).toEqual([{ uri: "file:///srv", name: "srv" }]);
  });

  test("S26: a conversation whose tool uses and results do not match is not sent", async () => {
    server.tool("talk", {}, async (_args, ctx) => {
      const use = { type: "tool_use", id: "1", name: "t", input: {} } as const;
      await ctx.createMessage("talk", { maxTokens: 1, messages: [{ role: "assistant", content: [use] }] });
      return "never";
    });
    const { result } = (await wire.call("talk")).json;
    expect([result.isError, result.inputRequests]).toEqual([true, undefined]);
    expect(result.content[0].text).toContain('"1"');
  });
});

describe("messages", () => {
  test("S24: a server never sends a request, whatever is asked, streamed or subscribed", async () => {
    server.tool("everything", {}, async (_args, ctx) => {
      ctx.progress(1);
      ctx.log("error", "loud");
      await Promise.all([ctx.confirm("sure", "Sure?"), ctx.listRoots("where")]);
      return "done";
    });
    const meta = { progressToken: "t", "io.modelcontextprotocol/logLevel": "debug" };
    const { text } = await wire.call("everything", { id: "call", meta });
    const messages = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string));
    expect(messages.map(({ id, method }) => [id, method])).toEqual([
      [undefined, "notifications/progress"],
      [undefined, "notifications/message"],
      ["call", undefined],
    ]);
  });

  test("S24: a client's response is refused and says where answers go", async () => {
    const body = '{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"Ada"}}}';
    const answer = await wire.post(body, headersFor("tools/call"));
    expect([answer.status, answer.json.error.code]).toEqual([400, -32600]);
    expect(answer.json.error.message).toContain("inputResponses");
  });

  test("S25: codes of earlier revisions are not sent, even when a handler passes them on", async () => {
    server.prompt("old", {}, () => {
      throw new RpcError(-32002, "Not there", { uri: "x" });
    });
    server.tool("old", {}, () => {
      throw new RpcError(-32042, "Open a page");
    });
    server.tool("own", {}, () => {
      throw new RpcError(-31000, "Ours", { more: 1 });
    });
    expect((await wire.prompt("old")).json.error.code).toBe(-32602);
    expect((await wire.call("old")).json.error.code).toBe(-32603);
    expect((await wire.call("own")).json.error).toEqual({ code: -31000, message: "Ours", data: { more: 1 } });
  });

  test("H6: closing the stream stops its handler; notifications/cancelled over HTTP stops none", async () => {
    const aborted = vi.fn();
    let begun: () => void = () => {};
    server.tool("wait", {}, async (_args, ctx) => {
      ctx.signal.addEventListener("abort", () => aborted());
      begun();
      await new Promise((resolve) => setTimeout(resolve, 150));
      return "waited";
    });
    const first = new Promise<void>((resolve) => (begun = resolve));
    const answer = wire.call("wait", { id: 5 });
    await first;
    const cancelled = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}';
    const reply = await wire.post(cancelled, { "content-type": "application/json" });
    expect([reply.status, reply.text]).toEqual([202, ""]);
    expect(textOf(await answer)).toBe("waited");
    expect(aborted).not.toHaveBeenCalled();

    const second = new Promise<void>((resolve) => (begun = resolve));
    const sent = message("tools/call", { name: "wait" });
    const req = request(wire.url, { method: "POST", headers: headersFor("tools/call", "wait") });
    req.on("error", () => {});
    req.end(JSON.stringify(sent));
    await second;
    req.destroy();
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledTimes(1));
  });
});
