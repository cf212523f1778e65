import { describe, expect, test } from "vitest";
import { z } from "zod";
import { jsonSchema } from "../../../src/json-schema.ts";
import { coreOf } from "../../../src/server/index.ts";
import { message, openFetch } from "../../spec/http-entry.ts";
import { create } from "./harness.ts";
import { MemoryCall } from "./memory-call.ts";

/** Calls a tool with arguments as text, as they come off the wire; the error, or what its handler got. */
async function call(input: Parameters<typeof jsonSchema>[0] | z.ZodType, args: string): Promise<unknown> {
  const server = create();
  let got: unknown;
  const schema = input instanceof z.ZodType ? (input as z.ZodType<Record<string, unknown>>) : jsonSchema(input);
  server.tool("t", { input: schema }, (given: unknown) => {
    got = given;
    return "done";
  });
  const text = JSON.stringify(message("tools/call", { name: "t", arguments: "ARGS" })).replace('"ARGS"', args);
  const reply = await coreOf(server).receive(text, new MemoryCall());
  return JSON.parse(reply.body as string).error ?? got;
}

const object = (properties: Record<string, unknown>, more = {}): Record<string, unknown> => ({
  type: "object",
  properties,
  ...more,
});
const refused = (path: string): unknown => ({
  code: -32602,
  message: `The params hold an integer beyond 2^53 in arguments.${path}: send it as a string`,
});
const integer = { type: "integer" };

describe("integers beyond 2^53 in arguments", () => {
  test.each<[string, Record<string, unknown>, string, string]>([
    ["a property", object({ n: integer }), '{"n":9007199254740993}', "n"],
    ["a negative one", object({ n: integer }), '{"n":-9007199254740993}', "n"],
    ["one that looks like a fraction", object({ n: integer }), '{"n":9007199254740993.0}', "n"],
    ["one with an exponent", object({ n: integer }), '{"n":1e21}', "n"],
    ["an item", object({ a: { items: integer } }), '{"a":[1,9007199254740993]}', "a.1"],
    [
      "an item of a tuple",
      object({ a: { prefixItems: [{ type: "number" }, integer] } }),
      '{"a":[1e21,9007199254740993]}',
      "a.1",
    ],
    [
      "what a reference leads to, round and round",
      object(
        { order: { $ref: "#/$defs/a~1b" } },
        { $defs: { "a/b": object({ id: integer, next: { $ref: "#/$defs/a~1b" } }) } },
      ),
      '{"order":{"id":1,"next":{"id":9007199254740993}}}',
      "order.next.id",
    ],
    ["one of several types", object({ n: { type: ["integer", "string", "null"] } }), '{"n":9007199254740993}', "n"],
    [
      "one of several schemas",
      object({ n: { anyOf: [{ type: "string" }, { allOf: [integer] }] } }),
      '{"n":9007199254740993}',
      "n",
    ],
    [
      "a property of any name",
      object({}, { additionalProperties: integer }),
      '{"__proto__":9007199254740993}',
      "__proto__",
    ],
  ])("case 62: %s is refused by name", async (_, input, args, path) => {
    expect(await call(input, args)).toEqual(refused(path));
  });

  test("case 62: by a library's schema likewise", async () => {
    expect(await call(z.object({ n: z.int() }), '{"n":9007199254740993}')).toEqual(refused("n"));
  });

  test.each<[string, Record<string, unknown>, string, unknown]>([
    ["the largest", object({ n: integer }), '{"n":9007199254740991}', { n: 9007199254740991 }],
    ["3.0", object({ n: integer }), '{"n":3.0}', { n: 3 }],
    ["-0", object({ n: integer }), '{"n":-0}', { n: -0 }],
    ["a number", object({ n: { type: "number" } }), '{"n":1e21}', { n: 1e21 }],
    ["either", object({ n: { anyOf: [integer, { type: "number" }] } }), '{"n":1e21}', { n: 1e21 }],
    ["anything", object({ n: {} }), '{"n":1e21}', { n: 1e21 }],
    [
      "what only looks like a type",
      object({ n: { const: { type: "integer" } }, type: {} }),
      '{"type":1e21}',
      { type: 1e21 },
    ],
  ])("case 62: %s comes as it was sent", async (_, input, args, got) => {
    expect(await call(input, args)).toEqual(got);
  });

  test("case 62: a mirrored one is refused by name too, whatever its header says", async () => {
    const server = create();
    const input = jsonSchema(object({ n: { ...integer, "x-mcp-header": "N" } }));
    server.tool("t", { input }, () => "done");
    const entry = await openFetch(server);
    const text = JSON.stringify(message("tools/call", { name: "t", arguments: { n: "N" } }));
    for (const header of [undefined, "1000000000000000000000", "9007199254740993"]) {
      const answer = await entry.send({
        body: text.replace('"N"', "1e21"),
        headers: {
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "t",
          "mcp-param-n": header,
        },
      });
      expect(answer.json.error).toEqual(refused("n"));
    }
    await entry.close();
  });

  test("case 62: one where another type is mirrored is left to the schema", async () => {
    const server = create();
    const input = jsonSchema(object({ s: { type: "string", "x-mcp-header": "S" } }));
    server.tool("t", { input }, () => "done");
    const entry = await openFetch(server);
    const answer = await entry.send({ body: message("tools/call", { name: "t", arguments: { s: 1e21 } }) });
    expect(answer.json.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("s: must be string") }],
    });
    await entry.close();
  });
});
