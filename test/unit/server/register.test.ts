import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createServer, type StandardSchema } from "../../../src/index.ts";
import { jsonSchema } from "../../../src/json-schema.ts";
import { ask, create } from "./harness.ts";

const refused = (message: RegExp): unknown =>
  expect.objectContaining({ code: "registration_invalid", message: expect.stringMatching(message) });

describe("schemas", () => {
  test.each([
    ["zod", z.object({ id: z.int() })],
    ["valibot", toStandardJsonSchema(v.object({ id: v.pipe(v.number(), v.integer()) }))],
    ["arktype", type({ id: "number.integer" })],
    ["jsonSchema", jsonSchema({ type: "object", properties: { id: { type: "integer" } }, required: ["id"] })],
  ] as [string, StandardSchema<{ id: number }>][])("H11: %s is listed and checked", async (_library, input) => {
    const server = create();
    server.tool("t", { input }, ({ id }) => `${id}`);
    const [tool] = (await ask(server, "tools/list")).result.tools;
    expect(tool.inputSchema).toMatchObject({
      type: "object",
      properties: { id: { type: "integer" } },
      required: ["id"],
    });
    expect((await ask(server, "tools/call", { name: "t", arguments: { id: 1 } })).result.content[0].text).toBe("1");
    expect((await ask(server, "tools/call", { name: "t", arguments: { id: 1.5 } })).result.isError).toBe(true);
  });

  test("a plain object is refused, naming jsonSchema", () => {
    const input = { type: "object", properties: {} } as unknown as StandardSchema;
    expect(() => create().tool("t", { input }, () => "")).toThrow(
      refused(/tool "t": input .*jsonSchema\(.*"volley-mcp\/json-schema"/),
    );
  });

  test("a library without JSON Schema is refused, naming what has it", () => {
    const input = v.object({}) as unknown as StandardSchema;
    expect(() => create().tool("t", { input }, () => "")).toThrow(refused(/toStandardJsonSchema/));
  });

  test("arguments that are no object are refused", () => {
    const input = z.string() as unknown as StandardSchema<Record<string, unknown>>;
    expect(() => create().tool("t", { input }, () => "")).toThrow(refused(/must describe an object/));
  });

  test("a union of objects is an object", async () => {
    const server = create();
    server.tool("t", { input: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) }, (args) =>
      JSON.stringify(args),
    );
    const [tool] = (await ask(server, "tools/list")).result.tools;
    expect(tool.inputSchema.type).toBe("object");
    expect((await ask(server, "tools/call", { name: "t", arguments: { b: "x" } })).result.content[0].text).toBe(
      '{"b":"x"}',
    );
  });

  test("what JSON Schema cannot say is refused, naming the tool", () => {
    expect(() => create().tool("t", { input: z.object({ when: z.date() }) }, () => "")).toThrow(
      refused(/tool "t": input/),
    );
  });

  test("H3: an x-mcp-header that breaks its rules is refused", () => {
    const input = z.object({ n: z.number().meta({ "x-mcp-header": "N" }) });
    expect(() => create().tool("t", { input }, () => "")).toThrow(refused(/x-mcp-header/));
  });

  test("prompt arguments must be strings, completions must have an argument", () => {
    expect(() =>
      create().prompt("p", { arguments: z.object({ n: z.number() }) as unknown as StandardSchema<object> }, () => ""),
    ).toThrow(refused(/"n" must be a string/));
    expect(() => create().prompt("p", { complete: { n: () => [] } }, () => "")).toThrow(refused(/names "n"/));
  });
});

test("names are unique and not empty; __proto__ is a name like any other", async () => {
  const server = create();
  server.tool("__proto__", {}, () => "plain");
  expect(() => server.tool("__proto__", {}, () => "")).toThrow(refused(/registered already/));
  expect(() => server.tool("", {}, () => "")).toThrow(refused(/not empty/));
  expect((await ask(server, "tools/call", { name: "__proto__" })).result.content[0].text).toBe("plain");
});

test("URIs are absolute, templates are templates with variables", () => {
  expect(() => create().resource("r", "relative", {}, () => "")).toThrow(refused(/absolute URI/));
  expect(() => create().resourceTemplate("t", "file:///x", {}, () => "")).toThrow(refused(/no variables/));
  expect(() => create().resourceTemplate("t", "file:///{x", {}, () => "")).toThrow(refused(/template/));
});

test.each([
  [{ name: "", version: "1" }, /name/],
  [{ name: "a", version: "1", limits: { bodyBytes: 0 } }, /limits\.bodyBytes/],
  [{ name: "a", version: "1", pageSize: 1.5 }, /pageSize/],
  [{ name: "a", version: "1", cache: { ttlMs: -1, cacheScope: "public" as const } }, /ttlMs/],
])("options %j are refused", (options, message) => {
  expect(() => createServer(options)).toThrow(
    expect.objectContaining({ code: "invalid_options", message: expect.stringMatching(message) }),
  );
});

test("a tool's name that clients may refuse is a warning, once, at registration", () => {
  const warnings: unknown[] = [];
  const server = create({ trace: (event) => void warnings.push(event) });
  for (const name of ["getUser", "DATA_EXPORT_v2", "admin.tools-list", "a".repeat(128)])
    server.tool(name, {}, () => "");
  expect(warnings).toEqual([]);
  const message =
    "a tool's name should be 1 to 128 of the letters A-Z and a-z, digits, _, - and . alone: some clients refuse any other.";
  for (const name of ["a b", "a/b", "näme", "a".repeat(129)]) {
    server.tool(name, {}, () => "");
    expect(warnings.pop()).toEqual({ type: "warning", target: `tool "${name}"`, message });
  }
});
