import { isObject } from "../protocol/index.ts";
import type { Field } from "./form.ts";
import { type ReadField, readField } from "./read-field.ts";
import { fieldSubject, refuse, type Source } from "./refusal.ts";
import { type Place, type RawSchema, settle } from "./settle.ts";

/** Called for each property: what was read, and where it stands. */
export type FieldVisitor = (read: ReadField, place: Place) => void;

/**
 * Reads the form that a server asks for into fields that can be shown, in the order in which it names them.
 *
 * Reads what servers write beyond the specification too (references, null beside a type, `anyOf` choices) and ignores
 * keywords that it does not know, since the server checks the answer itself.
 *
 * @throws VolleyError `message_invalid` when a field cannot be shown as one of the six kinds.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export function readForm(requestedSchema: unknown): readonly Field[] {
  const fields: Field[] = [];
  readProperties(requestedSchema, "peer", ({ field }) => fields.push(field));
  return fields;
}

/** Reads every property of an object schema; throws where it is no form. */
export function readProperties(raw: unknown, source: Source, visit: FieldVisitor): void {
  const budget = { left: 100_000 };
  const root = isObject(raw) ? raw : {};
  const { schema } = settle(raw, { source, root, subject: "The form", budget });
  const properties = propertiesOf(schema, source);
  const required = requiredOf(schema, properties, source);
  for (const name of Object.keys(properties)) {
    const place: Place = { source, root, subject: fieldSubject(name), budget };
    visit(readField(name, properties[name], required.has(name), place), place);
  }
}

function propertiesOf(schema: RawSchema, source: Source): RawSchema {
  if (schema.type !== "object") {
    return schema.anyOf === undefined && schema.oneOf === undefined
      ? refuse(
          source,
          "The form",
          "is no object",
          "Put what you ask for into one, like z.object({ answer: z.string() }).",
        )
      : refuse(
          source,
          "The form",
          "is a union",
          "Ask first which of them it is, then for its fields by a second question.",
        );
  }
  const { properties } = schema;
  if (isObject(properties)) return properties;
  // Some libraries leave the properties of an empty object out.
  const isEmpty = properties === undefined && !isObject(schema.additionalProperties);
  if (source === "library" && isEmpty) return {};
  return refuse(source, "The form", "has no fixed fields", "Give it properties, one a field.");
}

function requiredOf(schema: RawSchema, properties: RawSchema, source: Source): ReadonlySet<unknown> {
  const { required } = schema;
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  if (required !== undefined && !Array.isArray(required)) {
    refuse(source, "The form", "has a required that is no list", "Name the required fields in a list.");
  }
  if (source !== "peer") {
    for (const name of names) {
      if (typeof name === "string" && Object.hasOwn(properties, name)) continue;
      refuse(
        source,
        "The form",
        `requires ${JSON.stringify(name)}, which is no field of it`,
        "Add the field or leave it out of required.",
      );
    }
  }
  return new Set(names);
}
