import { isObject, type PrimitiveSchemaDefinition } from "../protocol/index.ts";
import type { Field } from "./form.ts";
import { refuse } from "./refusal.ts";
import type { RestrictedSchema } from "./schema.ts";
import type { Place } from "./settle.ts";

const saying: Record<Field["kind"], string> = {
  string: "Text has minLength, maxLength, a format (email, uri, date, date-time) and a default that fits them",
  number: "A number has minimum, maximum and a default between them",
  integer: "An integer has minimum, maximum and a whole default between them",
  boolean: "A boolean has a default",
  choice: "A choice has an enum of strings, or oneOf with a const and a title each, and one of them as default",
  choices:
    "A list has minItems, maxItems, items with an enum of strings or anyOf with a const and a title each, and a default from them",
};

const wayOut = "What else has to hold, a Standard Schema (zod and others) in place of the plain one can check.";

/**
 * Throws when a plain schema says something that its written form does not: nobody would check it.
 *
 * Keywords that start with `x-` are for tools, not for checking, and stay behind.
 */
export function checkKeywords(
  raw: unknown,
  written: PrimitiveSchemaDefinition,
  kind: Field["kind"],
  place: Place,
): void {
  if (!isObject(raw)) return;
  const said = new Map<string, unknown>(Object.entries(written));
  for (const [keyword, value] of Object.entries(raw)) {
    if (value === undefined || keyword.startsWith("x-") || isSame(value, said.get(keyword))) continue;
    refuse(
      place.source,
      place.subject,
      `cannot have this ${JSON.stringify(keyword)} in a form`,
      `${saying[kind]}; every field may have a title and a description. ${wayOut}`,
    );
  }
}

const formKeywords: ReadonlySet<string> = new Set([
  "$schema",
  "type",
  "properties",
  "required",
  // Say nothing about the answer: fields that were not asked for are left out in any case.
  "additionalProperties",
  "title",
  "description",
]);

/** Throws when a plain schema says something about the form as a whole that nobody would check. */
export function checkFormKeywords(schema: RestrictedSchema): void {
  for (const keyword of Object.keys(schema)) {
    if (formKeywords.has(keyword) || keyword.startsWith("x-")) continue;
    refuse(
      "literal",
      "The form",
      `cannot have ${JSON.stringify(keyword)}`,
      `It has type, properties and required. ${wayOut}`,
    );
  }
}

function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  if (!isObject(a)) return a === b;
  if (!isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}
