import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkContent, compileForm, defaults, type Field, readForm } from "../../../src/elicit/index.ts";
import { VolleyError } from "../../../src/errors.ts";

function refusal(requestedSchema: unknown): string {
  try {
    readForm(requestedSchema);
  } catch (error) {
    if (VolleyError.is(error) && error.code === "message_invalid") return error.message;
    throw error;
  }
  return "taken";
}

function read(field: unknown, extra: object = {}): Field | undefined {
  return readForm({ type: "object", properties: { field }, ...extra })[0];
}

describe("C7: a client reads the form that a server sends", () => {
  test("what our server writes reads as our server's own fields", () => {
    const form = compileForm(
      z.object({
        name: z.string().min(1).meta({ title: "Name", description: "Yours" }),
        mail: z.email().optional(),
        age: z.int().min(18).max(99).default(20),
        size: z.number(),
        sure: z.boolean().default(true),
        color: z.enum(["Red", "Green"]),
        shade: z.union([z.literal("r").meta({ title: "Red" }), z.literal("g").meta({ title: "Green" })]),
        legacy: z.enum(["r"]).meta({ enumNames: ["Red"] }),
        colors: z
          .array(z.enum(["Red", "Green"]))
          .min(1)
          .default(["Red"]),
      }),
    );
    expect(readForm(JSON.parse(JSON.stringify(form.requestedSchema)))).toEqual(form.fields);
  });

  test("case 33: what other servers write beyond the specification is shown too", () => {
    const definitions = { $defs: { "Co/lor~": { enum: ["r", "g"], title: "Color", type: "string" } } };
    expect(read({ $ref: "#/$defs/Co~1lor~0" }, definitions)).toMatchObject({ kind: "choice", title: "Color" });
    expect(read({ allOf: [{ $ref: "#/$defs/Co~1lor~0" }], default: "g" }, definitions)).toMatchObject({
      kind: "choice",
      default: "g",
    });
    expect(
      read({ anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], title: "N", default: null }),
    ).toMatchObject({
      kind: "integer",
      title: "N",
      minimum: 1,
      default: undefined,
    });
    expect(read({ anyOf: [{ const: "a", title: "A" }, { const: "b" }, { type: "null" }] })).toMatchObject({
      kind: "choice",
      options: [
        { value: "a", label: "A" },
        { value: "b", label: "b" },
      ],
    });
    expect(read({ type: ["string", "null"], enum: ["a", null] })).toMatchObject({ kind: "choice", required: false });
    expect(read({ enum: ["a", "a"] })).toMatchObject({ options: [{ value: "a", label: "a" }] });
    expect(read({ type: "integer", exclusiveMinimum: 0, maximum: 9007199254740991 })).toMatchObject({
      minimum: 1,
      maximum: undefined,
    });
    expect(read({ type: "string", pattern: "^a", format: "password", minLength: "1" })).toMatchObject({
      kind: "string",
      format: undefined,
      minLength: undefined,
    });
  });

  test("a default that the form refuses is not pre-filled", () => {
    expect(
      defaults(
        readForm({
          type: "object",
          properties: { a: { type: "string", default: 3 }, b: { enum: ["x"], default: "y" } },
        }),
      ),
    ).toEqual({});
  });

  test.each([
    [{ type: "object" }, "is a nested object"],
    [{ type: "array", items: { type: "string" } }, "is a list of something else than choices between strings"],
    [{ type: "array", items: { type: "string", enum: [] } }, "is a choice of nothing"],
    [{ type: "string", enum: ["a", 1] }, "is a choice between values that are not all strings"],
    [{ anyOf: [{ type: "string" }, { type: "object" }] }, "is a union of different kinds of values"],
    [{}, "is of a kind that a form cannot ask for"],
    [null, "is no JSON Schema object"],
    [{ $ref: "https://example.com/schema" }, "refers to a schema elsewhere"],
    [{ $ref: "#/$defs/loop" }, "refers to itself"],
    [{ $ref: "#/$defs/__proto__" }, "refers to a schema elsewhere"],
  ])("%j cannot be shown", (field, fault) => {
    const asked = { type: "object", properties: { field }, $defs: { loop: { $ref: "#/$defs/loop" } } };
    expect(refusal(asked)).toBe(`The server's form cannot be shown: Field "field" ${fault}.`);
  });

  test.each([null, [], "x", {}, { type: "object" }, { type: "string" }, { type: "object", properties: [] }])(
    "%j is no form",
    (asked) => {
      expect(refusal(asked)).toMatch(/^The server's form cannot be shown: The form /);
    },
  );

  test("a name of any length stays out of the message", () => {
    expect(refusal({ type: "object", properties: { ["n".repeat(65536)]: {} } }).length).toBeLessThan(250);
  });

  test("a short document cannot describe a form without end", () => {
    const $defs: Record<string, unknown> = { d0: { enum: ["a"] } };
    for (let i = 1; i < 15; i += 1) $defs[`d${i}`] = { anyOf: new Array(20).fill({ $ref: `#/$defs/d${i - 1}` }) };
    expect(refusal({ type: "object", $defs, properties: { x: { $ref: "#/$defs/d14" } } })).toBe(
      "The server's form cannot be shown: The form is too large.",
    );
  });

  test("anything else than a form is refused, and nothing but a VolleyError is thrown", () => {
    const keyword = fc.constantFrom(
      "type",
      "enum",
      "const",
      "oneOf",
      "anyOf",
      "allOf",
      "items",
      "$ref",
      "default",
      "title",
      "minLength",
      "minimum",
      "format",
    );
    const leaf = fc.constantFrom(
      "string",
      "array",
      "object",
      "number",
      null,
      1,
      true,
      "#/$defs/a",
      "__proto__",
      -1,
      1e300,
    );
    const { schema } = fc.letrec((tie) => ({
      schema: fc.dictionary(
        keyword,
        fc.oneof({ maxDepth: 4 }, leaf, tie("schema"), fc.array(fc.oneof(leaf, tie("schema")), { maxLength: 3 })),
        { maxKeys: 4 },
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("a", "__proto__", "constructor"), schema), schema, (properties, a) => {
        try {
          const fields = readForm({ type: "object", properties, $defs: { a } });
          expect(checkContent(fields, defaults(fields))).toEqual([]);
        } catch (error) {
          if (!VolleyError.is(error)) throw error;
        }
      }),
      { numRuns: 300 },
    );
  });
});

test("case 67: a pattern in a server's form is not run: the server checks the answer itself", () => {
  const schema = { type: "object", properties: { name: { type: "string", pattern: "^(a+)+$" } } };
  const startedAt = performance.now();
  expect(checkContent(readForm(schema), { name: `${"a".repeat(40)}!` })).toEqual([]);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
