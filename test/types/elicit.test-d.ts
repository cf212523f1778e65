import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  type Checked,
  compileForm,
  type FieldValue,
  type Form,
  type FormSchema,
  type FormValue,
  type RestrictedSchema,
  type StandardSchema,
} from "../../src/elicit/index.ts";

declare function ask<const S extends FormSchema>(schema: S): FormValue<S>;

describe("libraries", () => {
  test("zod: the output type, after defaults and transforms", () => {
    const schema = z.object({
      name: z.string(),
      age: z.int().optional(),
      sure: z.boolean().default(true),
      when: z.iso.date().transform((text) => new Date(text)),
      resolution: z.enum(["Fixed", "Duplicate"]),
    });
    expectTypeOf(ask(schema)).toEqualTypeOf<{
      name: string;
      age?: number | undefined;
      sure: boolean;
      when: Date;
      resolution: "Fixed" | "Duplicate";
    }>();
    expectTypeOf(schema).toExtend<StandardSchema<z.output<typeof schema>>>();
    expectTypeOf(ask(schema.transform(({ name }) => name))).toEqualTypeOf<string>();
  });

  test("valibot, through toStandardJsonSchema", () => {
    const schema = toStandardJsonSchema(
      v.object({ name: v.string(), age: v.optional(v.number()), sure: v.optional(v.boolean(), true) }),
    );
    expectTypeOf(ask(schema)).toEqualTypeOf<{ name: string; age?: number | undefined; sure: boolean }>();
  });

  test("valibot alone lacks JSON Schema", () => {
    // @ts-expect-error: toStandardJsonSchema is missing
    ask(v.object({ name: v.string() }));
  });

  test("arktype", () => {
    const schema = type({ name: "string", "age?": "number", kind: "'a' | 'b'" });
    expectTypeOf(ask(schema)).toEqualTypeOf<{ name: string; age?: number; kind: "a" | "b" }>();
  });
});

describe("plain schemas", () => {
  test("a literal gives its own type", () => {
    const value = ask({
      type: "object",
      properties: {
        name: { type: "string", minLength: 1 },
        email: { type: "string", format: "email" },
        age: { type: "integer", minimum: 0 },
        rating: { type: "number" },
        sure: { type: "boolean", default: true },
        color: { type: "string", enum: ["Red", "Green"] },
        shade: { type: "string", oneOf: [{ const: "#f00", title: "Red" }] },
        legacy: { type: "string", enum: ["r"], enumNames: ["Red"] },
        colors: { type: "array", items: { type: "string", enum: ["Red", "Green"] } },
        shades: { type: "array", items: { anyOf: [{ const: "#f00", title: "Red" }] } },
      },
      required: ["name", "age", "sure", "color", "colors"],
    });
    expectTypeOf(value).toEqualTypeOf<{
      name: string;
      age: number;
      sure: boolean;
      color: "Red" | "Green";
      colors: ("Red" | "Green")[];
      email?: string;
      rating?: number;
      shade?: "#f00";
      legacy?: "r";
      shades?: "#f00"[];
    }>();
  });

  test("nothing required: everything optional", () => {
    expectTypeOf(ask({ type: "object", properties: { name: { type: "string" } } })).toEqualTypeOf<{ name?: string }>();
  });

  test("without literal types it is a record", () => {
    expectTypeOf<FormValue<RestrictedSchema>>().toEqualTypeOf<Record<string, FieldValue>>();
  });

  test("what the protocol does not allow does not compile", () => {
    // @ts-expect-error: no nested objects
    ask({ type: "object", properties: { address: { type: "object", properties: {} } } });
    // @ts-expect-error: one of four formats
    ask({ type: "object", properties: { id: { type: "string", format: "uuid" } } });
    // @ts-expect-error: a list is a choice
    ask({ type: "object", properties: { tags: { type: "array", items: { type: "string" } } } });
  });

  test("a field may say that it is no secret", () => {
    const value = ask({ type: "object", properties: { otp: { type: "boolean", "x-volley-not-secret": true } } });
    expectTypeOf(value).toEqualTypeOf<{ otp?: boolean }>();
  });
});

test("a form checks into the author's own type", () => {
  const schema = z.object({ name: z.string() });
  expectTypeOf(compileForm<typeof schema>).returns.toEqualTypeOf<Form<{ name: string }>>();
  type Answer = Checked<{ name: string }>;
  expectTypeOf<ReturnType<Form<{ name: string }>["check"]>>().toEqualTypeOf<Answer | Promise<Answer>>();
});
