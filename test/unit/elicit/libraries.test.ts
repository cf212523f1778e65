import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { compileForm } from "../../../src/elicit/index.ts";

describe("valibot", () => {
  const schema = toStandardJsonSchema(
    v.object({
      name: v.pipe(
        v.string(),
        v.trim(),
        v.minLength(2),
        v.check((name) => name !== "root", "Not root"),
        v.title("Name"),
      ),
      email: v.pipe(v.string(), v.email()),
      day: v.pipe(v.string(), v.isoDate()),
      age: v.optional(v.pipe(v.number(), v.integer(), v.minValue(18))),
      sure: v.optional(v.boolean(), true),
      note: v.nullable(v.string()),
      color: v.picklist(["Red", "Green"]),
      shade: v.union([v.pipe(v.literal("#f00"), v.title("Red")), v.pipe(v.literal("#0f0"), v.title("Green"))]),
      colors: v.pipe(v.array(v.picklist(["Red", "Green"])), v.minLength(1)),
    }),
  );

  test("case 33: the form", () => {
    expect(compileForm(schema).requestedSchema).toEqual({
      type: "object",
      properties: {
        name: { type: "string", title: "Name", minLength: 2 },
        email: { type: "string", format: "email" },
        day: { type: "string", format: "date" },
        age: { type: "integer", minimum: 18 },
        sure: { type: "boolean", default: true },
        note: { type: "string" },
        color: { type: "string", enum: ["Red", "Green"] },
        shade: {
          type: "string",
          oneOf: [
            { const: "#f00", title: "Red" },
            { const: "#0f0", title: "Green" },
          ],
        },
        colors: { type: "array", minItems: 1, items: { type: "string", enum: ["Red", "Green"] } },
      },
      required: ["name", "email", "day", "color", "shade", "colors"],
    });
  });

  test("the answer", async () => {
    const content = { email: "a@b.example", day: "2026-07-28", color: "Red", shade: "#f00", colors: ["Green"] };
    const form = compileForm(schema);
    expect(await form.check({ ...content, name: " ann " })).toEqual({
      ok: true,
      value: { ...content, name: "ann", sure: true, note: null },
    });
    expect(await form.check({ ...content, name: "root" })).toEqual({
      ok: false,
      problems: [{ field: "name", message: '"Name": Not root' }],
    });
  });
});

describe("arktype", () => {
  const schema = type({
    name: type("2 <= string <= 9").configure({ title: "Name", description: "Yours" }),
    email: "string.email",
    "age?": "number.integer >= 18",
    sure: "boolean",
    note: "string | null",
    id: "string.uuid",
    color: "'Red' | 'Green'",
    shade: type("'#f00'")
      .configure({ title: "Red" })
      .or(type("'#0f0'").configure({ title: "Green" })),
    colors: "1 <= ('Red' | 'Green')[] <= 2",
  }).narrow(({ color, colors }, context) => colors.includes(color) || context.mustBe("of one color"));

  test("case 33: the form, in arktype's own order", () => {
    expect(compileForm(schema).requestedSchema).toEqual({
      type: "object",
      properties: {
        name: { type: "string", title: "Name", description: "Yours", minLength: 2, maxLength: 9 },
        email: { type: "string", format: "email" },
        age: { type: "integer", minimum: 18 },
        sure: { type: "boolean" },
        note: { type: "string" },
        id: { type: "string", description: "a UUID" },
        color: { type: "string", enum: ["Green", "Red"] },
        shade: {
          type: "string",
          oneOf: [
            { const: "#0f0", title: "Green" },
            { const: "#f00", title: "Red" },
          ],
        },
        colors: { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["Green", "Red"] } },
      },
      required: expect.arrayContaining(["name", "email", "sure", "id", "color", "shade", "colors"]),
    });
    expect(compileForm(schema).requestedSchema.required).toHaveLength(7);
  });

  test("the answer", async () => {
    const content = {
      name: "ann",
      email: "a@b.example",
      sure: true,
      id: "5f9c1d4e-2b7a-4c3d-8e6f-0a1b2c3d4e5f",
      color: "Red",
      shade: "#0f0",
      colors: ["Red"],
    };
    const form = compileForm(schema);
    expect(await form.check(content)).toEqual({ ok: true, value: { ...content, note: null } });
    expect(await form.check({ ...content, id: "x" })).toEqual({
      ok: false,
      problems: [{ field: "id", message: '"id": id must be a UUID (was "x")' }],
    });
    expect(await form.check({ ...content, color: "Green" })).toMatchObject({ ok: false, problems: [{ field: "" }] });
  });
});
