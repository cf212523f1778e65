import type { PrimitiveSchemaDefinition } from "../protocol/index.ts";
import type { Field } from "./form.ts";
import type { ReadField } from "./read-field.ts";

/** A field as the specification writes it: flat, inline, and without a keyword that it does not know. */
export function writeField({ field, titles }: ReadField): PrimitiveSchemaDefinition {
  const schema: Record<string, unknown> = {
    type: field.kind === "choice" ? "string" : field.kind === "choices" ? "array" : field.kind,
    title: field.title,
    description: field.description,
    ...keywords(field, titles),
    default: field.default,
  };
  for (const key of Object.keys(schema)) if (schema[key] === undefined) delete schema[key];
  return schema as unknown as PrimitiveSchemaDefinition;
}

function keywords(field: Field, titles: ReadField["titles"]): Record<string, unknown> {
  switch (field.kind) {
    case "string":
      return { minLength: field.minLength, maxLength: field.maxLength, format: field.format };
    case "number":
    case "integer":
      return { minimum: field.minimum, maximum: field.maximum };
    case "boolean":
      return {};
  }
  const values = field.options.map((option) => option.value);
  const titled = field.options.map((option) => ({ const: option.value, title: option.label }));
  if (field.kind === "choices") {
    const items = titles === "none" ? { type: "string", enum: values } : { anyOf: titled };
    return { minItems: field.minItems, maxItems: field.maxItems, items };
  }
  if (titles === "each") return { oneOf: titled };
  return titles === "none"
    ? { enum: values }
    : { enum: values, enumNames: field.options.map((option) => option.label) };
}
