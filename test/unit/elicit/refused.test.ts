import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { compileForm, type FormSchema } from "../../../src/elicit/index.ts";
import { VolleyError } from "../../../src/errors.ts";

function refusal(schema: unknown): string {
  try {
    compileForm(schema as FormSchema);
  } catch (error) {
    if (VolleyError.is(error) && error.code === "form_unsupported") return error.message;
    throw error;
  }
  return "taken";
}

const flatten = "is a nested object. Flatten it into fields of the form itself, or ask several questions.";
const list =
  "is a list of something else than choices between strings. Give its items an enum of strings, or ask for one text and split it with a transform.";
const kind =
  "is of a kind that a form cannot ask for. Ask for text, a number, a boolean or a choice, and turn it into what you need with a transform; a date is text with the format date or date-time.";
const choice =
  "is a choice between values that are not all strings. Offer the choices as strings and turn them into what you need with a transform; for a range of numbers use an integer with a minimum and a maximum.";
const union =
  "Ask for one kind of value, or for a choice between strings; or ask several questions, one after the other.";

describe("a field that a form cannot say is refused by name, with a way out", () => {
  const recursive = z.object({
    get next() {
      return recursive.optional();
    },
  });

  test.each([
    ["nested object", z.object({ x: z.object({ a: z.string() }) }), flatten],
    ["record", z.object({ x: z.record(z.string(), z.string()) }), flatten],
    ["list of text", z.object({ x: z.array(z.string()) }), list],
    ["list of objects", z.object({ x: z.array(z.object({})) }), list],
    ["list of numbers", z.object({ x: z.array(z.literal([1, 2])) }), list],
    ["tuple", z.object({ x: z.tuple([z.literal("a")]) }), list],
    ["union", z.object({ x: z.union([z.string(), z.number()]) }), `has several types. ${union}`],
    [
      "union with a choice",
      z.object({ x: z.union([z.literal("a"), z.number()]) }),
      `is a union of different kinds of values. ${union}`,
    ],
    ["choice of numbers", z.object({ x: z.literal([1, 2]) }), choice],
    ["date", z.object({ x: z.date() }), kind],
    ["coerced date", z.object({ x: z.coerce.date() }), kind],
    ["bigint", z.object({ x: z.bigint() }), kind],
    ["set", z.object({ x: z.set(z.enum(["a"])) }), kind],
    ["anything", z.object({ x: z.unknown() }), kind],
    ["null", z.object({ x: z.null() }), kind],
    ["never", z.object({ x: z.never() }), kind],
    ["file", z.object({ x: z.file() }), "is a file. Ask with elicitUrl and let the page take the file."],
    [
      "bounds that cross",
      z.object({ x: z.number().min(5).max(3) }),
      "needs at least 5 and allows at most 3. Nobody can fill it: change one of them.",
    ],
    [
      "more choices than there are",
      z.object({ x: z.array(z.enum(["a", "b"])).min(3) }),
      "needs at least 3 and allows at most 2. Nobody can fill it: change one of them.",
    ],
    ["valibot date", toStandardJsonSchema(v.object({ x: v.date() })), kind],
    ["arktype date", type({ x: "Date" }), kind],
    ["arktype choice of numbers", type({ x: "1 | 2" }), choice],
  ])("%s", (_, schema, message) => {
    expect(refusal(schema)).toBe(`Field "x" ${message}`);
  });

  test("a schema that refers to itself", () => {
    expect(refusal(recursive)).toBe(
      'Field "next" refers to a schema elsewhere. Write the field\'s schema in its place.',
    );
  });

  test.each([
    ["text", z.string(), "is no object. Put what you ask for into one, like z.object({ answer: z.string() })."],
    [
      "a bare shape",
      { name: z.string() },
      "is no object. Put what you ask for into one, like z.object({ answer: z.string() }).",
    ],
    [
      "a union of objects",
      z.discriminatedUnion("kind", [z.object({ kind: z.literal("a") }), z.object({ kind: z.literal("b") })]),
      "is a union. Ask first which of them it is, then for its fields by a second question.",
    ],
    ["a record", z.record(z.string(), z.string()), "has no fixed fields. Give it properties, one a field."],
    ["nothing", undefined, "has no schema. Give a schema of a library, or a plain one."],
    [
      "valibot without JSON Schema",
      v.object({ name: v.string() }),
      "comes from a schema of valibot that has no JSON Schema. Wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema.",
    ],
  ])("the form as a whole: %s", (_, schema, message) => {
    expect(refusal(schema)).toBe(`The form ${message}`);
  });

  test("a library that throws is quoted", () => {
    const broken = {
      "~standard": {
        version: 1,
        vendor: "homemade",
        validate: (value: unknown) => ({ value }),
        jsonSchema: {
          input: () => {
            throw new Error("not today");
          },
          output: () => ({}),
        },
      },
    } as const;
    expect(refusal(broken)).toBe("The form cannot be written as JSON Schema, says homemade: not today");
  });
});

describe("a plain schema says nothing that nobody would check", () => {
  const end =
    "every field may have a title and a description. What else has to hold, a Standard Schema (zod and others) in place of the plain one can check.";

  test("the way out names what the kind of field can say", () => {
    expect(refusal({ type: "object", properties: { x: { type: "string", pattern: "^a" } } })).toBe(
      `Field "x" cannot have this "pattern" in a form. Text has minLength, maxLength, a format (email, uri, date, date-time) and a default that fits them; ${end}`,
    );
  });

  test.each([
    ["format", { type: "string", format: "uuid" }],
    ["minLength", { type: "string", minLength: "3" }],
    ["default", { type: "string", default: 3 }],
    ["default", { type: "string", minLength: 3, default: "" }],
    ["type", { type: ["string", "null"] }],
    ["title", { type: "string", title: 3 }],
    ["exclusiveMinimum", { type: "number", exclusiveMinimum: 3 }],
    ["default", { type: "integer", default: 1.5 }],
    ["const", { type: "boolean", const: true }],
    ["default", { type: "string", enum: ["a"], default: "b" }],
    ["enum", { type: "string", enum: ["a", "a"] }],
    ["enumNames", { type: "string", enum: ["a", "b"], enumNames: ["A"] }],
    ["oneOf", { type: "string", oneOf: [{ const: "a", title: "A" }, { const: "b" }] }],
    ["oneOf", { type: "string", oneOf: [{ const: "a", title: "A", description: "more" }] }],
    ["anyOf", { type: "string", anyOf: [{ const: "a", title: "A" }] }],
    ["uniqueItems", { type: "array", items: { type: "string", enum: ["a"] }, uniqueItems: true }],
  ])("%s in %j", (keyword, field) => {
    expect(refusal({ type: "object", properties: { x: field } })).toContain(
      `Field "x" cannot have this "${keyword}" in a form. `,
    );
  });

  test.each([
    ["choice of nothing", { type: "string", enum: [] }, 'Field "x" is a choice of nothing. '],
    ["no schema", 3, 'Field "x" is no JSON Schema object. '],
  ])("%s", (_, field, message) => {
    expect(refusal({ type: "object", properties: { x: field } })).toContain(message);
  });

  test.each([
    [{ minProperties: 1 }, 'cannot have "minProperties". '],
    [{ required: ["b"] }, 'requires "b", which is no field of it. Add the field or leave it out of required.'],
    [{ required: "a" }, "has a required that is no list. "],
  ])("the form as a whole: %j", (extra, message) => {
    expect(refusal({ type: "object", properties: { a: { type: "string" } }, ...extra })).toContain(
      `The form ${message}`,
    );
  });
});
