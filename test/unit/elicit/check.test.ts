import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkContent, compileForm, type RestrictedField } from "../../../src/elicit/index.ts";

function problemWith(field: RestrictedField, value: unknown): string | undefined {
  const form = compileForm({ type: "object", properties: { field }, required: ["field"] });
  const problems = checkContent(form.fields, { field: value });
  return problems[0]?.message.replace('"field" ', "");
}

describe("S17: an answer is checked against the form, in words for a person", () => {
  const colors = { type: "string", enum: ["Red", "Green"] } as const;
  const sizes = {
    type: "array",
    items: {
      anyOf: [
        { const: "s", title: "Small" },
        { const: "m", title: "Medium" },
        { const: "l", title: "Large" },
      ],
    },
    minItems: 1,
    maxItems: 2,
  } as const;

  test.each<[RestrictedField, unknown, string | undefined]>([
    [{ type: "string" }, "", undefined],
    [{ type: "string" }, 1, "must be text."],
    [{ type: "string" }, null, "must be text."],
    [{ type: "string" }, ["a"], "must be text."],
    [{ type: "string", minLength: 1 }, "", "must not be empty."],
    [{ type: "string", minLength: 3 }, "ab", "must have at least 3 characters."],
    [{ type: "string", minLength: 3 }, "abc", undefined],
    [{ type: "string", maxLength: 3 }, "abcd", "must have at most 3 characters."],
    [{ type: "string", maxLength: 1 }, "ab", "must have at most 1 character."],
    [{ type: "string", format: "email" }, "nobody", "must be an email address, like name@example.com."],
    [{ type: "string", format: "uri" }, "nowhere", "must be a full web address, like https://example.com/page."],
    [{ type: "string", format: "date" }, "2026-02-30", "must be a date, like 2026-07-28."],
    [
      { type: "string", format: "date-time" },
      "2026-07-28",
      "must be a date and time with its zone, like 2026-07-28T14:30:00Z.",
    ],
    [{ type: "number" }, 1.5, undefined],
    [{ type: "number" }, "1.5", "must be a number."],
    [{ type: "number" }, Number.NaN, "must be a number."],
    [{ type: "integer" }, 1.5, "must be a whole number."],
    [{ type: "integer" }, 2 ** 53, "has too many digits to be kept exactly."],
    [{ type: "integer" }, -1e21, "has too many digits to be kept exactly."],
    [{ type: "integer", maximum: 5 }, 1e21, "must be at most 5."],
    [{ type: "integer" }, 3, undefined],
    [{ type: "number", minimum: 0 }, -1, "must be at least 0."],
    [{ type: "number", maximum: 9 }, 9.5, "must be at most 9."],
    [{ type: "integer", minimum: 1, maximum: 5 }, 6, "must be between 1 and 5."],
    [{ type: "boolean" }, false, undefined],
    [{ type: "boolean" }, "true", "must be true or false."],
    [colors, "Red", undefined],
    [colors, "red", "must be one of: Red, Green."],
    [colors, ["Red"], "must be one of: Red, Green."],
    [sizes, ["s", "l"], undefined],
    [sizes, "s", "must be a list of: Small, Medium, Large."],
    [sizes, [], "needs at least 1 choice."],
    [sizes, ["s", "m", "l"], "allows at most 2 choices."],
    [sizes, ["s", "x"], "must hold only: Small, Medium, Large."],
    [sizes, ["s", "s"], "may hold each choice once."],
    [
      { type: "array", items: { type: "string", enum: ["a"] } },
      new Array(1_000_000).fill("a"),
      "may hold each choice once.",
    ],
  ])("%j with %j: %s", (field, value, expected) => {
    expect(problemWith(field, value)).toBe(expected);
  });

  test("lengths are counted in code points", () => {
    expect(problemWith({ type: "string", minLength: 2, maxLength: 2 }, "😀😀")).toBe(undefined);
    expect(problemWith({ type: "string", minLength: 2 }, "😀")).toBe("must have at least 2 characters.");
    expect(problemWith({ type: "string", maxLength: 1 }, "😀a")).toBe("must have at most 1 character.");
  });

  test("long lists of choices are cut short", () => {
    const names = Array.from({ length: 12 }, (_, i) => `c${i}`);
    expect(problemWith({ type: "string", enum: names }, "x")).toBe(
      "must be one of: c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 2 more.",
    );
  });

  const form = compileForm({
    type: "object",
    properties: { name: { type: "string", title: "Full name" }, age: { type: "integer" }, note: { type: "string" } },
    required: ["name", "age"],
  });

  test("every field is judged, by its title", () => {
    expect(checkContent(form.fields, { age: "x", note: 1 })).toEqual([
      { field: "name", message: '"Full name" is required.' },
      { field: "age", message: '"age" must be a whole number.' },
      { field: "note", message: '"note" must be text.' },
    ]);
  });

  test("S15: fields that were not asked for are ignored and left out", async () => {
    expect(await form.check({ name: "A", age: 1, admin: true })).toEqual({ ok: true, value: { name: "A", age: 1 } });
    const loose = compileForm(z.looseObject({ name: z.string() }));
    expect(await loose.check({ name: "A", admin: true })).toEqual({ ok: true, value: { name: "A" } });
    const strict = compileForm(z.strictObject({ name: z.string() }));
    expect(await strict.check({ name: "A", admin: true })).toEqual({ ok: true, value: { name: "A" } });
  });

  test("null in a field that may be left out counts as left out", async () => {
    expect(await form.check({ name: "A", age: 1, note: null })).toEqual({ ok: true, value: { name: "A", age: 1 } });
  });

  test.each([null, [], "x", 3])("S14: %j is no answer to a form", async (content) => {
    expect(await form.check(content)).toEqual({
      ok: false,
      problems: [{ field: "", message: "The answer must be an object with one value a field." }],
    });
  });

  test("no content at all is an empty answer", async () => {
    expect(await compileForm(z.object({ note: z.string().optional() })).check(undefined)).toEqual({
      ok: true,
      value: {},
    });
    expect((await form.check(undefined)).ok).toBe(false);
  });

  test("inherited values are none", () => {
    expect(checkContent(form.fields, Object.create({ name: "A", age: 1 }))).toHaveLength(2);
  });

  test("the value is a copy: what the author does to it does not reach the answer", async () => {
    const choices = compileForm({
      type: "object",
      properties: { c: { type: "array", items: { type: "string", enum: ["a"] } } },
    });
    const content = { c: ["a"] };
    const checked = await choices.check(content);
    if (!checked.ok) throw new Error("refused");
    checked.value.c?.push("a");
    expect(content).toEqual({ c: ["a"] });
  });
});

describe("what only the author's schema can check holds when the answer comes back", () => {
  test("S17: patterns, refinements and literals", async () => {
    const form = compileForm(
      z.object({
        code: z.string().regex(/^[A-Z]{3}$/, "Three capital letters"),
        even: z.number().refine((n) => n % 2 === 0, "Must be even"),
        fives: z.number().multipleOf(5),
        agreed: z.literal(true, "You have to agree").meta({ title: "Agreed" }),
      }),
    );
    expect(await form.check({ code: "abc", even: 3, fives: 1, agreed: false })).toEqual({
      ok: false,
      problems: [
        { field: "code", message: '"code": Three capital letters' },
        { field: "even", message: '"even": Must be even' },
        { field: "fives", message: '"fives": Invalid number: must be a multiple of 5' },
        { field: "agreed", message: '"Agreed": You have to agree' },
      ],
    });
  });

  test("fields against each other", async () => {
    const range = z.object({ from: z.iso.date(), to: z.iso.date() });
    const form = compileForm(
      range.refine(({ from, to }) => from <= to, { error: "Ends before it starts", path: ["to"] }),
    );
    expect(await form.check({ from: "2026-02-02", to: "2026-01-01" })).toEqual({
      ok: false,
      problems: [{ field: "to", message: '"to": Ends before it starts' }],
    });
    const whole = compileForm(range.refine(({ from, to }) => from <= to, "Ends before it starts"));
    expect(await whole.check({ from: "2026-02-02", to: "2026-01-01" })).toEqual({
      ok: false,
      problems: [{ field: "", message: "Ends before it starts" }],
    });
  });

  test("the form comes first: the author's schema does not see what it refuses", async () => {
    let seen = 0;
    const schema = z.object({ n: z.coerce.number().refine(() => ++seen > 0) });
    expect(await compileForm(schema).check({ n: "3" })).toEqual({
      ok: false,
      problems: [{ field: "n", message: '"n" must be a number.' }],
    });
    expect(seen).toBe(0);
  });

  test("transforms, coercions and defaults apply", async () => {
    const form = compileForm(
      z.object({
        when: z.iso.date().transform((text) => new Date(text).getTime()),
        tags: z.string().transform((text) => text.split(",")),
        text: z.coerce.string().trim(),
        sure: z.boolean().default(true),
      }),
    );
    expect(await form.check({ when: "1970-01-02", tags: "a,b", text: " x " })).toEqual({
      ok: true,
      value: { when: 86_400_000, tags: ["a", "b"], text: "x", sure: true },
    });
  });

  test("a nullable field that was left out is null, an optional one absent", async () => {
    const form = compileForm(
      z.object({
        a: z.string().nullable(),
        b: z.string().nullish(),
        c: z.string().optional(),
        d: z.string().nullable().default("d"),
      }),
    );
    expect(await form.check({})).toEqual({ ok: true, value: { a: null, d: "d" } });
    expect(await form.check({ a: null })).toEqual({ ok: true, value: { a: null, d: "d" } });
    expect(await form.check({ a: "x" })).toEqual({ ok: true, value: { a: "x", d: "d" } });
  });

  test("a plain schema is checked at once, an async one by a promise", async () => {
    const sync = compileForm(z.object({ name: z.string() })).check({ name: "A" });
    expect(sync).toEqual({ ok: true, value: { name: "A" } });
    const schema = z.object({ name: z.string().refine(async (name) => name !== "taken", "Is taken") });
    const pending = compileForm(schema).check({ name: "taken" });
    expect(pending).toBeInstanceOf(Promise);
    expect(await pending).toEqual({ ok: false, problems: [{ field: "name", message: '"name": Is taken' }] });
    expect(await compileForm(schema).check({ name: "free" })).toEqual({ ok: true, value: { name: "free" } });
  });

  test("an author's schema that throws is the author's error", async () => {
    const schema = z.object({
      name: z.string().refine(() => {
        throw new Error("bug");
      }),
    });
    await expect(async () => compileForm(schema).check({ name: "A" })).rejects.toThrow("bug");
  });

  test("a library's long message is cut, never in the middle of a character", async () => {
    const schema = z.object({ name: z.string().refine(() => false, `${"x".repeat(299)}😀`) });
    const checked = await compileForm(schema).check({ name: "A" });
    expect(checked).toEqual({ ok: false, problems: [{ field: "name", message: `"name": ${"x".repeat(299)}…` }] });
  });

  test("case 23: a library that reads a field called constructor finds no inherited one", async () => {
    const form = compileForm(z.object({ constructor: z.string().optional() }));
    expect(await form.check({})).toEqual({ ok: true, value: {} });
    expect(await form.check({ constructor: "x" })).toEqual({ ok: true, value: { constructor: "x" } });
  });
});
