import { describe, expect, test } from "vitest";
import { compileForm, type RestrictedField, type RestrictedSchema } from "../../../src/elicit/index.ts";

const everyField: [string, RestrictedField][] = [
  [
    "text",
    {
      type: "string",
      title: "Display Name",
      description: "Description text",
      minLength: 3,
      maxLength: 50,
      format: "email",
      default: "user@example.com",
    },
  ],
  ["uri", { type: "string", format: "uri" }],
  ["date", { type: "string", format: "date", default: "2026-07-28" }],
  ["date-time", { type: "string", format: "date-time" }],
  ["number", { type: "number", title: "N", description: "D", minimum: 0, maximum: 100, default: 50.5 }],
  ["integer", { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991, default: 3 }],
  ["boolean", { type: "boolean", title: "B", description: "D", default: false }],
  ["untitled single", { type: "string", title: "Color", enum: ["Red", "Green", "Blue"], default: "Red" }],
  [
    "titled single",
    {
      type: "string",
      description: "Choose",
      oneOf: [
        { const: "#FF0000", title: "Red" },
        { const: "same", title: "same" },
      ],
      default: "#FF0000",
    },
  ],
  ["legacy titled single", { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"], default: "g" }],
  [
    "untitled multi",
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
    {
      type: "array",
      title: "Colors",
      items: {
        anyOf: [
          { const: "#FF0000", title: "Red" },
          { const: "#00FF00", title: "Green" },
        ],
      },
      default: [],
    },
  ],
];

describe("a form from a plain schema", () => {
  test.each(everyField)("case 33: %s goes out as it was written", (_, field) => {
    const schema: RestrictedSchema = { type: "object", properties: { field }, required: ["field"] };
    expect(compileForm(schema).requestedSchema).toEqual({ type: "object", properties: { field }, required: ["field"] });
  });

  test("$schema stays where it was given; what says nothing about the answer does not", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      title: "Form",
      additionalProperties: false,
      properties: { otp: { type: "string", "x-volley-not-secret": true, "x-other": 1 } },
      required: [],
    } as const;
    expect(compileForm(schema).requestedSchema).toEqual({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { otp: { type: "string" } },
    });
  });

  test("case 23: __proto__ and constructor are fields like any other", async () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"},"toString":{"type":"boolean"}},"required":["__proto__"]}',
    ) as RestrictedSchema;
    const form = compileForm(schema);
    expect(JSON.stringify(form.requestedSchema)).toBe(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"},"toString":{"type":"boolean"}},"required":["__proto__"]}',
    );
    expect(await form.check({})).toEqual({
      ok: false,
      problems: [{ field: "__proto__", message: '"__proto__" is required.' }],
    });
    const checked = await form.check(JSON.parse('{"__proto__":"x","constructor":1}'));
    if (!checked.ok) throw new Error("refused");
    expect(JSON.stringify(checked.value)).toBe('{"__proto__":"x","constructor":1}');
    expect(checked.value.toString).toBe(undefined);
    expect(Object.getPrototypeOf(checked.value)).toBe(null);
  });
});
