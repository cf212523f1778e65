import type { Field, FormContent } from "./form.ts";

/**
 * What an untouched form holds: the default of every field that has one.
 *
 * A field without a default is absent: no answer is made up. The result has no prototype and is the caller's own.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export function defaults(fields: readonly Field[]): FormContent {
  const content: FormContent = Object.create(null);
  for (const field of fields) {
    if (field.kind === "choices") {
      if (field.default !== undefined) content[field.name] = [...field.default];
    } else if (field.default !== undefined) {
      content[field.name] = field.default;
    }
  }
  return content;
}
