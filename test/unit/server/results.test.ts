import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { Declined, RpcError } from "../../../src/index.ts";
import { ask, create, ELICITATION } from "./harness.ts";

const INFO = { "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.0.0" } };
const Name = z.object({ name: z.string() });

describe("tools/call", () => {
  test.each([
    ["a string", "text", { content: [{ type: "text", text: "text" }] }],
    ["nothing", undefined, { content: [] }],
    [
      "content",
      [{ type: "image", data: "AA==", mimeType: "image/png" }],
      { content: [{ type: "image", data: "AA==", mimeType: "image/png" }] },
    ],
    ["no content", [], { content: [] }],
    ["a result", { content: [], isError: true }, { content: [], isError: true }],
  ])("S2: %s becomes a complete result", async (_what, value, result) => {
    const server = create();
    server.tool("t", {}, () => value as string);
    expect((await ask(server, "tools/call", { name: "t" })).result).toEqual({
      resultType: "complete",
      ...result,
      _meta: INFO,
    });
  });

  test("H12: a result's own _meta is kept beside who we are", async () => {
    const server = create();
    server.tool("t", {}, () => ({ content: [], _meta: { "com.example/k": 1 } }));
    expect((await ask(server, "tools/call", { name: "t" })).result._meta).toEqual({ ...INFO, "com.example/k": 1 });
  });

  test.each([42, { sum: 1 }, [1, 2], () => 1])(
    "a value without an output schema (%s) is an error that says what to return",
    async (value) => {
      const server = create({ errors: "show" });
      server.tool("t", {}, () => value as unknown as string);
      const { result } = await ask(server, "tools/call", { name: "t" });
      expect(result.isError).toBe(true);
      expect(result.content[0].text).toMatch(
        /Tool "t" must return a string, content blocks, or \{ content \}.*`output` schema/,
      );
    },
  );

  test("H11: a value for the output schema is checked and becomes structured content and its text", async () => {
    const server = create();
    server.tool(
      "t",
      {
        output: z.object({
          sum: z
            .number()
            .transform((n) => n * 2)
            .pipe(z.number()),
        }),
      },
      () => ({ sum: 2 }),
    );
    server.tool("list", { output: z.array(z.string()) }, () => ["a"]);
    expect((await ask(server, "tools/call", { name: "t" })).result).toMatchObject({
      resultType: "complete",
      content: [{ type: "text", text: '{"sum":4}' }],
      structuredContent: { sum: 4 },
    });
    expect((await ask(server, "tools/call", { name: "list" })).result.structuredContent).toEqual(["a"]);
  });

  test("H11: a result that does not fit its schema does not leave", async () => {
    const server = create({ errors: "show" });
    server.tool(
      "t",
      { output: z.object({ sum: z.number() }) },
      () => ({ sum: "secret" }) as unknown as { sum: number },
    );
    server.tool("whole", { output: z.object({ sum: z.number() }) }, () => ({ structuredContent: {}, content: [] }));
    for (const name of ["t", "whole"]) {
      const { result } = await ask(server, "tools/call", { name });
      expect(result.isError).toBe(true);
      expect(result.structuredContent).toBeUndefined();
      expect(result.content[0].text).toContain("does not fit its output schema:\n- sum: ");
    }
  });

  test("H11: with an output schema a whole result keeps its own content, and an error needs no structure", async () => {
    const server = create();
    const output = z.object({ sum: z.number() });
    server.tool("whole", { output }, () => ({
      structuredContent: { sum: 3 },
      content: [{ type: "text", text: "three" }],
    }));
    server.tool("error", { output }, () => ({ isError: true, content: [{ type: "text", text: "no" }] }));
    expect((await ask(server, "tools/call", { name: "whole" })).result).toMatchObject({
      structuredContent: { sum: 3 },
      content: [{ text: "three" }],
    });
    expect((await ask(server, "tools/call", { name: "error" })).result).toMatchObject({
      isError: true,
      content: [{ text: "no" }],
    });
  });

  test("case 20: input_required passes an output schema untouched, from a tool, a prompt and a resource", async () => {
    const server = create();
    server.tool("t", { output: z.object({ sum: z.number() }) }, async (_args, ctx) => {
      await ctx.elicit("name", { message: "Name?", schema: Name });
      return { sum: 1 };
    });
    server.prompt("p", {}, async (_args, ctx) => (await ctx.elicit("name", { message: "Name?", schema: Name })).name);
    server.resource("r", "file:///r", { cache: { ttlMs: 9, cacheScope: "public" } }, async (_uri, ctx) => {
      return (await ctx.elicit("name", { message: "Name?", schema: Name })).name;
    });
    for (const [method, params] of [
      ["tools/call", { name: "t" }],
      ["prompts/get", { name: "p" }],
      ["resources/read", { uri: "file:///r" }],
    ] as const) {
      const first = (await ask(server, method, params, ELICITATION)).result;
      expect(Object.keys(first).sort()).toEqual(["_meta", "inputRequests", "requestState", "resultType"]);
      expect(first.resultType).toBe("input_required");
      const retry = {
        ...params,
        requestState: first.requestState,
        inputResponses: { name: { action: "accept", content: { name: "x" } } },
      };
      const second = (await ask(server, method, retry, ELICITATION)).result;
      expect(second.resultType).toBe("complete");
      if (method === "resources/read") expect(second).toMatchObject({ ttlMs: 0, cacheScope: "private" });
    }
  });

  test("S25: an author's error is a result without its stack, and with its message where errors are shown", async () => {
    const trace = vi.fn();
    const server = create({ trace, errors: "show" });
    const error = new Error("The tracker is down.");
    server.tool("t", {}, async () => {
      throw error;
    });
    const answer = await ask(server, "tools/call", { name: "t" });
    expect(answer.result).toEqual({
      resultType: "complete",
      content: [{ type: "text", text: "The tracker is down." }],
      isError: true,
      _meta: INFO,
    });
    expect(trace).toHaveBeenCalledWith({ type: "fault", target: "t", error });
  });

  test.each([
    ["null", null],
    ["an object", { secret: 1 }],
    ["an empty error", new Error("")],
  ])("S25: %s thrown is one generic sentence, where errors are shown too", async (_what, thrown) => {
    const server = create({ errors: "show" });
    server.tool("t", {}, () => {
      throw thrown;
    });
    const { result } = await ask(server, "tools/call", { name: "t" });
    expect(result).toMatchObject({ isError: true, content: [{ type: "text", text: 'The tool "t" failed.' }] });
  });

  test("S25: an RpcError passes, but never under a code of earlier revisions or as a refusal of ours", async () => {
    const server = create();
    server.tool("own", {}, () => {
      throw new RpcError(1234, "Quota used up", { left: 0 });
    });
    server.tool("old", {}, () => {
      throw new RpcError(-32002, "gone");
    });
    server.tool("url", {}, () => {
      throw new RpcError(-32042, "open this", { circular: 1n });
    });
    server.tool("closing", {}, () => {
      throw new RpcError(50300, "I did not take it");
    });
    expect((await ask(server, "tools/call", { name: "closing" })).error.code).toBe(-32603);
    expect((await ask(server, "tools/call", { name: "own" })).error).toEqual({
      code: 1234,
      message: "Quota used up",
      data: { left: 0 },
    });
    expect((await ask(server, "tools/call", { name: "old" })).error.code).toBe(-32602);
    expect((await ask(server, "tools/call", { name: "url" })).error).toEqual({ code: -32603, message: "open this" });
  });

  test("S25: a value that JSON does not carry is the author's error", async () => {
    const server = create();
    server.tool("t", { output: z.any() }, () => ({ big: 1n }));
    expect((await ask(server, "tools/call", { name: "t" })).result.isError).toBe(true);
  });

  test("S25: arguments of a tool that takes none are refused", async () => {
    const server = create();
    server.tool("t", {}, () => "ran");
    const { result } = await ask(server, "tools/call", { name: "t", arguments: { constructor: 1 } });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'The arguments of "t" are not valid:\n- constructor: there are no arguments' }],
    });
  });

  test("case 23: __proto__ and constructor are plain arguments", async () => {
    const server = create();
    server.tool("t", { input: z.looseObject({}) }, (args) => JSON.stringify(Object.keys(args)));
    const args = JSON.parse('{"__proto__":{"polluted":1},"constructor":2}');
    const { result } = await ask(server, "tools/call", { name: "t", arguments: args });
    expect(JSON.parse(result.content[0].text)).toContain("constructor");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("S8: what a tool calls salient is what it gets and what its state is bound to", async () => {
    const server = create();
    const input = z.object({ id: z.number(), note: z.string().optional() });
    server.tool("t", { input, salient: ({ id }) => ({ id }) }, async (args, ctx) => {
      await ctx.elicit("name", { message: "Name?", schema: Name });
      return JSON.stringify(args);
    });
    const first = (await ask(server, "tools/call", { name: "t", arguments: { id: 1, note: "a" } }, ELICITATION)).result;
    const answers = {
      requestState: first.requestState,
      inputResponses: { name: { action: "accept", content: { name: "x" } } },
    };
    const same = await ask(
      server,
      "tools/call",
      { name: "t", arguments: { id: 1, note: "b" }, ...answers },
      ELICITATION,
    );
    expect(same.result.content[0].text).toBe('{"id":1}');
    const other = await ask(
      server,
      "tools/call",
      { name: "t", arguments: { id: 2, note: "a" }, ...answers },
      ELICITATION,
    );
    expect(other.error.code).toBe(-32602);
  });
});

describe("prompts/get", () => {
  test("S2: a string, messages or a whole result", async () => {
    const server = create();
    const messages = [{ role: "assistant", content: { type: "text", text: "hi" } }] as const;
    server.prompt("text", {}, () => "hi");
    server.prompt("messages", {}, () => messages);
    server.prompt("whole", {}, () => ({ description: "D", messages }));
    expect((await ask(server, "prompts/get", { name: "text" })).result).toEqual({
      resultType: "complete",
      messages: [{ role: "user", content: { type: "text", text: "hi" } }],
      _meta: INFO,
    });
    expect((await ask(server, "prompts/get", { name: "messages" })).result.messages).toEqual(messages);
    expect((await ask(server, "prompts/get", { name: "whole" })).result).toMatchObject({ description: "D", messages });
  });

  test("S25: unknown prompts and arguments that do not fit are -32602", async () => {
    const server = create();
    server.prompt("p", { arguments: z.object({ who: z.string() }) }, ({ who }) => who);
    for (const params of [
      { name: "none" },
      { name: "constructor" },
      { name: "p" },
      { name: "p", arguments: { who: 1 } },
    ]) {
      expect((await ask(server, "prompts/get", params)).error.code).toBe(-32602);
    }
  });

  test("S16: an author's error is -32603 without detail; a decline is one sentence", async () => {
    const trace = vi.fn();
    const server = create({ trace, random: (bytes) => new Uint8Array(bytes).fill(0xa1) });
    const error = new Error("password=1");
    server.prompt("fails", {}, () => {
      throw error;
    });
    server.prompt("declined", {}, () => {
      throw new Declined("name");
    });
    expect((await ask(server, "prompts/get", { name: "fails" })).error).toEqual({
      code: -32603,
      message: "The prompt failed. Reference: a1a1a1a1.",
    });
    expect(trace).toHaveBeenCalledWith({ type: "fault", target: "fails", error, reference: "a1a1a1a1" });
    expect((await ask(server, "prompts/get", { name: "declined" })).error).toEqual({
      code: -32603,
      message: 'The request for "name" was declined.',
    });
  });
});

describe("resources/read", () => {
  test("H10: text, bytes and contents, with how long they may be kept", async () => {
    const server = create();
    server.resource("text", "file:///text", { mimeType: "text/plain" }, () => "text");
    server.resource(
      "bytes",
      "file:///bytes",
      { cache: { ttlMs: 10, cacheScope: "public" } },
      () => new Uint8Array([1, 2]),
    );
    server.resource("blob", "file:///blob", {}, () => ({ blob: new Uint8Array([1, 2]).subarray(1), mimeType: "a/b" }));
    server.resource("many", "file:///many", {}, () => [{ text: "a" }, { uri: "file:///b", text: "b" }]);
    server.resource("whole", "file:///whole", {}, () => ({ contents: [{ text: "a", uri: "file:///x" }], ttlMs: 1 }));
    const read = async (uri: string) => (await ask(server, "resources/read", { uri })).result;
    expect(await read("file:///text")).toEqual({
      resultType: "complete",
      contents: [{ uri: "file:///text", mimeType: "text/plain", text: "text" }],
      ttlMs: 0,
      cacheScope: "private",
      _meta: INFO,
    });
    expect(await read("file:///bytes")).toMatchObject({
      contents: [{ uri: "file:///bytes", blob: "AQI=" }],
      ttlMs: 10,
      cacheScope: "public",
    });
    expect((await read("file:///blob")).contents).toEqual([{ uri: "file:///blob", mimeType: "a/b", blob: "Ag==" }]);
    expect((await read("file:///many")).contents).toEqual([
      { uri: "file:///many", text: "a" },
      { uri: "file:///b", text: "b" },
    ]);
    expect(await read("file:///whole")).toMatchObject({
      contents: [{ uri: "file:///x" }],
      ttlMs: 1,
      cacheScope: "private",
    });
  });

  test("S25: a resource that is not there never answers with empty contents", async () => {
    const server = create();
    server.resourceTemplate("t", "item://{id}", {}, ({ id }) => (id === "1" ? "one" : undefined));
    server.resource("empty", "file:///empty", {}, () => []);
    expect((await ask(server, "resources/read", { uri: "item://1" })).result.contents[0].text).toBe("one");
    for (const uri of ["item://2", "file:///empty", "none://x", "__proto__"]) {
      expect((await ask(server, "resources/read", { uri })).error).toEqual({
        code: -32602,
        message: "Resource not found",
        data: { uri },
      });
    }
  });

  test("templates hand out decoded variables; what does not match, or is broken, is not found", async () => {
    const server = create();
    server.resourceTemplate(
      "t",
      "note://{folder}/{name}",
      {},
      ({ folder, name }, _ctx, uri) => `${folder}|${name}|${uri}`,
    );
    const read = (uri: string) => ask(server, "resources/read", { uri });
    expect((await read("note://a/b%20c")).result.contents[0].text).toBe("a|b c|note://a/b%20c");
    for (const uri of ["note://a/%E0%A4%A", "note://a", `note://a/${"x".repeat(10_000)}`]) {
      expect((await read(uri)).error.code).toBe(-32602);
    }
  });
});
