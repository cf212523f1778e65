import { describe, expect, test } from "vitest";
import { z } from "zod";
import { compileForm } from "../../../src/elicit/index.ts";

const titled = z.union([z.literal("#f00").meta({ title: "Red" }), z.literal("#0f0").meta({ title: "Green" })]);

function fieldOf(schema: z.ZodType): unknown {
  return compileForm(z.object({ field: schema })).requestedSchema.properties.field;
}

describe("a form from zod", () => {
  test("is flat and inline: nothing but type, properties and required", () => {
    const shared = z.enum(["a", "b"]).meta({ id: "elicit-forms-zod-shared", title: "Shared" });
    const schema = z
      .strictObject({ name: z.string(), first: shared, second: shared.optional().meta({ title: "Second" }) })
      .meta({ title: "Form", description: "Of no concern to the wire" });
    expect(compileForm(schema).requestedSchema).toEqual({
      type: "object",
      properties: {
        name: { type: "string" },
        first: { type: "string", title: "Shared", enum: ["a", "b"] },
        second: { type: "string", title: "Second", enum: ["a", "b"] },
      },
      required: ["name", "first"],
    });
  });

  test.each([
    ["text", z.string(), { type: "string" }],
    ["lengths", z.string().min(3).max(50), { type: "string", minLength: 3, maxLength: 50 }],
    ["a pattern is left to zod", z.string().regex(/x/), { type: "string" }],
    ["a format of zod's own is left to zod", z.uuid(), { type: "string" }],
    ["email", z.email(), { type: "string", format: "email" }],
    ["uri", z.url(), { type: "string", format: "uri" }],
    ["date", z.iso.date(), { type: "string", format: "date" }],
    ["date-time", z.iso.datetime(), { type: "string", format: "date-time" }],
    [
      "title and description",
      z.string().meta({ title: "Name", description: "Your name" }),
      { type: "string", title: "Name", description: "Your name" },
    ],
    ["a transform shows its input", z.string().transform(Number).pipe(z.number()), { type: "string" }],
    ["two kinds of text are text", z.union([z.email(), z.url()]), { type: "string" }],
    ["default text", z.string().default("x"), { type: "string", default: "x" }],
    [
      "a default that the form would refuse is no default",
      z.string().min(3).default(""),
      { type: "string", minLength: 3 },
    ],
  ])("text: %s", (_, schema, expected) => {
    expect(fieldOf(schema)).toEqual(expected);
  });

  test.each([
    ["number", z.number(), { type: "number" }],
    ["bounds", z.number().min(0).max(100).default(50), { type: "number", minimum: 0, maximum: 100, default: 50 }],
    [
      "exclusive bounds: the nearest that a form can say",
      z.number().gt(1).lt(5),
      { type: "number", minimum: 1, maximum: 5 },
    ],
    ["multipleOf is left to zod", z.number().multipleOf(5), { type: "number" }],
    ["z.int() has no bounds worth showing", z.int(), { type: "integer" }],
    ["z.int() with one bound", z.int().min(1), { type: "integer", minimum: 1 }],
    ["a positive integer starts at 1", z.int().positive(), { type: "integer", minimum: 1 }],
    ["z.int32() has real bounds", z.int32(), { type: "integer", minimum: -2147483648, maximum: 2147483647 }],
    ["z.coerce.number()", z.coerce.number(), { type: "number" }],
  ])("number: %s", (_, schema, expected) => {
    expect(fieldOf(schema)).toEqual(expected);
  });

  test.each([
    ["boolean", z.boolean(), { type: "boolean" }],
    ["default false", z.boolean().default(false), { type: "boolean", default: false }],
    ["a literal is left to zod", z.literal(true), { type: "boolean" }],
    ["z.coerce.boolean()", z.coerce.boolean(), { type: "boolean" }],
  ])("boolean: %s", (_, schema, expected) => {
    expect(fieldOf(schema)).toEqual(expected);
  });

  test.each([
    [
      "untitled single",
      z.enum(["Red", "Green"]).default("Red"),
      { type: "string", enum: ["Red", "Green"], default: "Red" },
    ],
    ["literals", z.literal(["Red", "Green"]), { type: "string", enum: ["Red", "Green"] }],
    ["one literal", z.literal("Red").meta({ title: "Color" }), { type: "string", title: "Color", enum: ["Red"] }],
    [
      "a union of literals",
      z.union([z.literal("Red"), z.literal("Green")]),
      { type: "string", enum: ["Red", "Green"] },
    ],
    [
      "titled single",
      titled.meta({ title: "Color" }).default("#f00"),
      {
        type: "string",
        title: "Color",
        oneOf: [
          { const: "#f00", title: "Red" },
          { const: "#0f0", title: "Green" },
        ],
        default: "#f00",
      },
    ],
    [
      "nested unions, some titles: the value stands in for a missing one",
      z.union([titled, z.enum(["black"])]),
      {
        type: "string",
        oneOf: [
          { const: "#f00", title: "Red" },
          { const: "#0f0", title: "Green" },
          { const: "black", title: "black" },
        ],
      },
    ],
    [
      "legacy enumNames, where the author writes them",
      z.enum(["r", "g"]).meta({ enumNames: ["Red", "Green"] }),
      { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
    ],
    [
      "untitled multi",
      z
        .array(z.enum(["Red", "Green", "Blue"]))
        .min(1)
        .max(2)
        .default(["Red", "Green"]),
      {
        type: "array",
        minItems: 1,
        maxItems: 2,
        items: { type: "string", enum: ["Red", "Green", "Blue"] },
        default: ["Red", "Green"],
      },
    ],
    [
      "titled multi",
      z.array(titled).default(["#0f0"]),
      {
        type: "array",
        items: {
          anyOf: [
            { const: "#f00", title: "Red" },
            { const: "#0f0", title: "Green" },
          ],
        },
        default: ["#0f0"],
      },
    ],
    [
      "titled multi of one",
      z.array(z.literal("#f00").meta({ title: "Red" })),
      { type: "array", items: { anyOf: [{ const: "#f00", title: "Red" }] } },
    ],
  ])("case 33: enum, %s", (_, schema, expected) => {
    expect(fieldOf(schema)).toEqual(expected);
  });

  test("optional, nullable and defaulted fields may be left out", () => {
    const schema = z.object({
      needed: z.string(),
      optional: z.string().optional(),
      nullable: z.string().nullable(),
      nullish: z.enum(["a"]).nullish(),
      titled: titled.nullable(),
      defaulted: z.boolean().default(true),
    });
    expect(compileForm(schema).requestedSchema.required).toEqual(["needed"]);
  });

  test("a form without fields asks for consent alone", () => {
    expect(compileForm(z.object({})).requestedSchema).toEqual({ type: "object", properties: {} });
  });

  test("is made once a schema", () => {
    const schema = z.object({ name: z.string() });
    expect(compileForm(schema)).toBe(compileForm(schema));
  });

  test("fields are ready to be shown", () => {
    const schema = z.object({
      name: z.string().min(1).meta({ title: "Name" }),
      age: z.int().min(18).optional(),
      sure: z.boolean().default(true),
      color: titled,
      sizes: z.array(z.enum(["S", "M"])).max(1),
    });
    const none = { title: undefined, description: undefined, default: undefined };
    expect(compileForm(schema).fields).toEqual([
      {
        ...none,
        kind: "string",
        name: "name",
        title: "Name",
        required: true,
        minLength: 1,
        maxLength: undefined,
        format: undefined,
      },
      { ...none, kind: "integer", name: "age", required: false, minimum: 18, maximum: undefined },
      { ...none, kind: "boolean", name: "sure", required: false, default: true },
      {
        ...none,
        kind: "choice",
        name: "color",
        required: true,
        options: [
          { value: "#f00", label: "Red" },
          { value: "#0f0", label: "Green" },
        ],
      },
      {
        ...none,
        kind: "choices",
        name: "sizes",
        required: true,
        options: [
          { value: "S", label: "S" },
          { value: "M", label: "M" },
        ],
        minItems: undefined,
        maxItems: 1,
      },
    ]);
  });
});

test.each([
  [z.number().positive(), 0, "must be more than 0."],
  [z.number().positive(), -1, "must be more than 0."],
  [z.number().negative(), 0, "must be less than 0."],
  [z.number().gt(0).max(5), 6, "must be more than 0 and at most 5."],
  [z.number().min(0).lt(5), 5, "must be at least 0 and less than 5."],
  [z.number().min(0).max(5), 6, "must be between 0 and 5."],
  [z.int().positive(), 0, "must be at least 1."],
])("a bound that is excluded is said as one: %#", async (amount, value, problem) => {
  const checked = await compileForm(z.object({ amount })).check({ amount: value });
  expect(checked).toEqual({ ok: false, problems: [{ field: "amount", message: `"amount" ${problem}` }] });
});
