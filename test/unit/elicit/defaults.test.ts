import { describe, expect, test } from "vitest";
import { z } from "zod";
import { compileForm, defaults, readForm } from "../../../src/elicit/index.ts";

describe("case 34: an untouched form", () => {
  test("submits every default that there is", async () => {
    const schema = {
      type: "object",
      properties: {
        name: { type: "string", default: "user" },
        age: { type: "integer", default: 0 },
        sure: { type: "boolean", default: true },
        unsure: { type: "boolean", default: false },
        color: { type: "string", enum: ["Red"], default: "Red" },
        colors: { type: "array", items: { type: "string", enum: ["Red"] }, default: ["Red"] },
        none: { type: "array", items: { type: "string", enum: ["Red"] }, default: [] },
        empty: { type: "string" },
      },
      required: ["name", "sure"],
    } as const;
    const form = compileForm(schema);
    const untouched = defaults(form.fields);
    expect(untouched).toEqual({
      name: "user",
      age: 0,
      sure: true,
      unsure: false,
      color: "Red",
      colors: ["Red"],
      none: [],
    });
    expect(await form.check(untouched)).toEqual({ ok: true, value: untouched });
    expect(defaults(readForm(JSON.parse(JSON.stringify(form.requestedSchema))))).toEqual(untouched);
  });

  test("a required boolean with default true submits true", () => {
    const asked = { type: "object", properties: { sure: { type: "boolean", default: true } }, required: ["sure"] };
    expect(defaults(readForm(asked))).toEqual({ sure: true });
    expect(defaults(compileForm(z.object({ sure: z.boolean().default(true) })).fields)).toEqual({ sure: true });
  });

  test("a field without a default gets no answer made up", () => {
    expect(defaults(compileForm(z.object({ sure: z.boolean(), name: z.string() })).fields)).toEqual({});
  });

  test("case 23: a default under __proto__ is plain data", () => {
    const asked = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string","default":"x"}}}');
    expect(JSON.stringify(defaults(readForm(asked)))).toBe('{"__proto__":"x"}');
  });

  test("the pre-filled list is the caller's own", () => {
    const { fields } = compileForm(z.object({ c: z.array(z.enum(["a", "b"])).default(["a"]) }));
    (defaults(fields).c as string[]).push("b");
    expect(defaults(fields)).toEqual({ c: ["a"] });
  });
});
