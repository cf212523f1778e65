import { expect, test, vi } from "vitest";
import * as z from "zod";
import type { Server } from "../../../src/index.ts";
import { createServer, type ServerOptions } from "../../../src/index.ts";
import { generateKey } from "../../../src/state/index.ts";
import { ask } from "./harness.ts";

const keys = [generateKey()];
const create = (options: Partial<ServerOptions> = {}): Server =>
  createServer({
    name: "test",
    version: "1.0.0",
    keys,
    audience: "https://test.example/mcp",
    trace: () => undefined,
    ...options,
  });
const withTools = (count: number, options: Partial<ServerOptions> = {}): Server => {
  const server = create({ pageSize: 2, ...options });
  for (let i = 0; i < count; i++) server.tool(`t${i}`, {}, () => "");
  return server;
};

test("H10: discovery names versions, capabilities, instructions, and how long that holds", async () => {
  const server = create({ title: "Test", instructions: "Ask nicely.", cache: { ttlMs: 5, cacheScope: "private" } });
  expect(await ask(server, "server/discover")).toEqual({
    jsonrpc: "2.0",
    id: 1,
    result: {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: {},
      instructions: "Ask nicely.",
      ttlMs: 5,
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.0.0", title: "Test" } },
    },
  });
});

test("H10: capabilities are those of what is registered", async () => {
  const server = create();
  server.prompt("p", { arguments: z.object({ a: z.string() }), complete: { a: () => [] } }, () => "p");
  server.resource("r", "file:///r", {}, () => "r");
  expect((await ask(server, "server/discover")).result.capabilities).toEqual({
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    completions: {},
    logging: {},
  });
});

test("H4: lists of what the server does not have are no methods of it", async () => {
  const server = create();
  for (const method of [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "completion/complete",
  ]) {
    expect((await ask(server, method)).error.code).toBe(-32601);
  }
});

test("H10: pages keep the order of registration and end without a cursor", async () => {
  const server = withTools(5);
  const names: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const { result } = await ask(server, "tools/list", cursor === undefined ? {} : { cursor });
    names.push(...result.tools.map((tool: { name: string }) => tool.name));
    expect(result).toMatchObject({ resultType: "complete", ttlMs: 60_000, cacheScope: "public" });
    cursor = result.nextCursor;
    pages++;
  } while (cursor !== undefined);
  expect(names).toEqual(["t0", "t1", "t2", "t3", "t4"]);
  expect(pages).toBe(3);
});

test("H10: a cursor is good on every instance with the key, until the key is gone", async () => {
  const { nextCursor } = (await ask(withTools(3), "tools/list")).result;
  expect((await ask(withTools(3), "tools/list", { cursor: nextCursor })).result.tools).toHaveLength(1);
  const rotated = withTools(3, { keys: [generateKey(), ...keys] });
  expect((await ask(rotated, "tools/list", { cursor: nextCursor })).result.tools).toHaveLength(1);
  expect((await ask(withTools(3, { keys: [generateKey()] }), "tools/list", { cursor: nextCursor })).error.code).toBe(
    -32602,
  );
});

test("H10: a cursor that is altered, of another list, or beyond the end is -32602", async () => {
  const server = withTools(3);
  for (const name of ["a", "b", "c"]) server.prompt(name, {}, () => name);
  const { nextCursor } = (await ask(server, "tools/list")).result;
  const [kid, , mac] = nextCursor.split(".");
  const longer = (await ask(withTools(50, { pageSize: 40 }), "tools/list")).result.nextCursor;
  for (const cursor of [
    "",
    "x",
    `${kid}.4.${mac}`,
    `${kid}.02.${mac}`,
    `${nextCursor}.`,
    `${nextCursor}=`,
    "__proto__",
    longer,
  ]) {
    expect((await ask(server, "tools/list", { cursor })).error.code).toBe(-32602);
  }
  expect((await ask(server, "prompts/list", { cursor: nextCursor })).error.code).toBe(-32602);
});

test("H10: lists are private by default once callers are authenticated", async () => {
  const server = withTools(1, { authenticate: () => undefined });
  expect((await ask(server, "tools/list")).result.cacheScope).toBe("private");
});

test("H10: entries show what their author said of them, and nothing else", async () => {
  const server = create();
  const about = {
    title: "T",
    description: "D",
    icons: [{ src: "https://x.example/i.png", mimeType: "image/png", sizes: ["48x48"] }],
    _meta: { "com.example/k": 1 },
  };
  server.tool("tool", { ...about, annotations: { readOnlyHint: true }, ttlMs: 1000 }, () => "");
  server.prompt(
    "prompt",
    { ...about, arguments: z.object({ a: z.string().describe("An a"), b: z.enum(["x", "y"]).optional() }) },
    () => "",
  );
  server.resource(
    "resource",
    "file:///r",
    { ...about, mimeType: "text/plain", size: 3, annotations: { priority: 1 } },
    () => "",
  );
  server.resourceTemplate("template", "file:///{x}", { ...about, mimeType: "text/plain" }, () => "");
  expect((await ask(server, "tools/list")).result.tools).toEqual([
    {
      name: "tool",
      inputSchema: { type: "object", additionalProperties: false },
      annotations: { readOnlyHint: true },
      ...about,
    },
  ]);
  expect((await ask(server, "prompts/list")).result.prompts).toEqual([
    { name: "prompt", arguments: [{ name: "a", description: "An a", required: true }, { name: "b" }], ...about },
  ]);
  expect((await ask(server, "resources/list")).result.resources).toEqual([
    { name: "resource", uri: "file:///r", mimeType: "text/plain", size: 3, annotations: { priority: 1 }, ...about },
  ]);
  expect((await ask(server, "resources/templates/list")).result.resourceTemplates).toEqual([
    { name: "template", uriTemplate: "file:///{x}", mimeType: "text/plain", ...about },
  ]);
});

test("H10: what was removed is gone from its list and cannot be called", async () => {
  const server = withTools(1);
  const extra = server.tool("extra", {}, () => "");
  expect((await ask(server, "tools/list")).result.tools).toHaveLength(2);
  extra.remove();
  extra.remove();
  expect((await ask(server, "tools/list")).result.tools).toHaveLength(1);
  expect((await ask(server, "tools/call", { name: "extra" })).error.code).toBe(-32602);
});

test("H10: a template may list its resources for a caller; such a list is private", async () => {
  const server = create({ pageSize: 2 });
  server.resource("first", "file:///first", {}, () => "");
  const list = vi.fn(() => [
    { uri: "item://1", name: "One" },
    { uri: "item://2", name: "Two" },
  ]);
  server.resourceTemplate("item", "item://{id}", { list }, ({ id }) => id);
  const first = (await ask(server, "resources/list")).result;
  expect(first.resources.map((resource: { uri: string }) => resource.uri)).toEqual(["file:///first", "item://1"]);
  expect(first.cacheScope).toBe("private");
  const second = (await ask(server, "resources/list", { cursor: first.nextCursor })).result;
  expect(second.resources).toEqual([{ uri: "item://2", name: "Two" }]);
  expect(list).toHaveBeenCalledWith({ principal: { type: "anonymous" } });
});

test("case 1: a tool's schemas are converted once, however often it is listed and called", async () => {
  const server = create();
  let conversions = 0;
  let validations = 0;
  for (let i = 0; i < 50; i++) {
    const schema = z.object({ a: z.number() });
    const standard = schema["~standard"];
    const counted = {
      "~standard": {
        ...standard,
        validate: (value: unknown) => {
          validations++;
          return standard.validate(value);
        },
        jsonSchema: {
          input: (options: Parameters<typeof standard.jsonSchema.input>[0]) => {
            conversions++;
            return standard.jsonSchema.input(options);
          },
          output: standard.jsonSchema.output,
        },
      },
    };
    server.tool(`t${i}`, { input: counted }, () => "");
  }
  for (let i = 0; i < 1000; i++) {
    await ask(server, i % 2 ? "tools/list" : "tools/call", i % 2 ? {} : { name: `t${i % 50}`, arguments: { a: i } });
  }
  expect([conversions, validations]).toEqual([50, 500]);
});

test("H10: completion returns at most 100 values and says how many there are", async () => {
  const server = create();
  const values = Array.from({ length: 150 }, (_, i) => `v${i}`);
  const complete = vi.fn(() => values);
  server.prompt("p", { arguments: z.object({ a: z.string(), b: z.string() }), complete: { a: complete } }, () => "");
  const { result } = await ask(server, "completion/complete", {
    ref: { type: "ref/prompt", name: "p" },
    argument: { name: "a", value: "v" },
    context: { arguments: { b: "x" } },
  });
  expect(result.completion).toEqual({ values: values.slice(0, 100), total: 150, hasMore: true });
  expect(complete).toHaveBeenCalledWith("v", { arguments: { b: "x" } });
  for (const name of ["b", "none", "__proto__", "constructor"]) {
    const other = await ask(server, "completion/complete", {
      ref: { type: "ref/prompt", name: "p" },
      argument: { name, value: "" },
    });
    expect(other.result.completion).toEqual({ values: [], total: 0, hasMore: false });
  }
});

test("H10: completion of template variables; unknown references are -32602; failures are told to the operator only", async () => {
  const trace = vi.fn();
  const server = create({ trace, random: (bytes) => new Uint8Array(bytes).fill(0xa1) });
  server.resourceTemplate("t", "db://{table}/{row}", { complete: { table: async () => ["users"] } }, () => "");
  server.resourceTemplate("u", "bad://{x}", { complete: { x: () => Promise.reject(new Error("secret")) } }, () => "");
  const complete = (ref: object, name = "table") =>
    ask(server, "completion/complete", { ref, argument: { name, value: "" } });
  expect((await complete({ type: "ref/resource", uri: "db://{table}/{row}" })).result.completion.values).toEqual([
    "users",
  ]);
  expect((await complete({ type: "ref/resource", uri: "none" })).error.code).toBe(-32602);
  expect((await complete({ type: "ref/prompt", name: "none" })).error.code).toBe(-32602);
  expect((await complete({ type: "ref/odd" })).error.code).toBe(-32602);
  expect((await complete({ type: "ref/resource", uri: "bad://{x}" }, "x")).error).toEqual({
    code: -32603,
    message: "The completion failed. Reference: a1a1a1a1.",
  });
  const fault = { type: "fault", target: "completion/complete", error: new Error("secret"), reference: "a1a1a1a1" };
  expect(trace).toHaveBeenCalledWith(fault);
});
