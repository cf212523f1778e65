import { isObject, type PrimitiveSchemaDefinition, type RequestedSchema, VolleyError } from "../protocol/index.ts";
import { labelOf, takeContent } from "./check.ts";
import type { Checked, Field, Form, FormContent, Problem } from "./form.ts";
import { checkFormKeywords, checkKeywords } from "./literal.ts";
import type { ReadField } from "./read-field.ts";
import { readProperties } from "./read-form.ts";
import { refuse } from "./refusal.ts";
import type {
  FormSchema,
  FormValue,
  RestrictedSchema,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from "./schema.ts";
import { secretHint } from "./secrets.ts";
import type { Place } from "./settle.ts";
import { writeField } from "./write-field.ts";

const forms = new WeakMap<object, Form<unknown>>();

/**
 * Makes a form of an author's schema: a schema of a library (see {@link StandardSchema}), or the plain JSON Schema that
 * the protocol allows.
 *
 * Done once a schema, by identity: keep schemas outside of handlers. What a library checks beyond what a form can say
 * (patterns, refinements, transforms, fields against each other) is left out of the form and holds in `check`; in a plain
 * schema it is refused, since nobody would check it. A nullable field becomes one that may be left out.
 *
 * @throws VolleyError `form_unsupported`, naming the field and the way out, for what a form cannot say, and for a field
 * that reads as if it asked for a secret; `"x-volley-not-secret": true` in the field's metadata says that it does not.
 *
 * @example
 * ```ts
 * const form = compileForm(z.object({ resolution: z.enum(["Fixed", "Duplicate"]), note: z.string().optional() }));
 * const checked = await form.check({ resolution: "Fixed" });
 * if (checked.ok) console.log(checked.value.resolution);
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export function compileForm<const Schema extends FormSchema>(schema: Schema): Form<FormValue<Schema>> {
  if (!isSchema(schema)) refuse("literal", "The form", "has no schema", "Give a schema of a library, or a plain one.");
  const known = forms.get(schema);
  // A form was put there for this very schema.
  if (known !== undefined) return known as Form<FormValue<Schema>>;
  const form = isStandardSchema(schema) ? compileStandard(schema) : compileRestricted(schema);
  forms.set(schema, form);
  return form as Form<FormValue<Schema>>;
}

// Authors without TypeScript; some libraries' schemas are functions.
function isSchema(schema: unknown): boolean {
  return isObject(schema) || typeof schema === "function";
}

function isStandardSchema(schema: FormSchema): schema is StandardSchema {
  return "~standard" in schema;
}

interface Shape {
  readonly requestedSchema: RequestedSchema;
  readonly fields: readonly Field[];
  /** Fields that the author's schema wants and takes null for. */
  readonly nullFields: readonly string[];
  readonly emptyContent: () => FormContent;
}

function readShape(raw: unknown, source: "library" | "literal"): Shape {
  const properties: Record<string, PrimitiveSchemaDefinition> = Object.create(null);
  const fields: Field[] = [];
  const nullFields: string[] = [];
  readProperties(raw, source, (read, place) => {
    const { field } = read;
    refuseSecret(read, place);
    refuseCrossed(field, place);
    const written = writeField(read);
    if (source === "literal") checkKeywords(read.raw, written, field.kind, place);
    properties[field.name] = written;
    fields.push(field);
    if (read.nullWhenAbsent) nullFields.push(field.name);
  });
  const required = fields.filter((field) => field.required).map((field) => field.name);
  const requestedSchema: RequestedSchema = { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
  // Of a field called "constructor" that was left out, a plain object would show the inherited value.
  const isInherited = fields.some((field) => field.name in Object.prototype);
  return { requestedSchema, fields, nullFields, emptyContent: isInherited ? () => Object.create(null) : () => ({}) };
}

function refuseSecret({ field, schema }: ReadField, place: Place): void {
  const hint = secretHint(field.name, field.kind, schema);
  if (hint === undefined) return;
  refuse(
    place.source,
    place.subject,
    `${hint}, and secrets must not pass through the client`,
    'Ask with ctx.elicitUrl and take the secret on your own page; if it is no secret, say so with "x-volley-not-secret": true in the metadata of the field.',
  );
}

function refuseCrossed(field: Field, place: Place): void {
  const [lower, upper] =
    field.kind === "string"
      ? [field.minLength, field.maxLength]
      : field.kind === "number" || field.kind === "integer"
        ? [field.minimum, field.maximum]
        : field.kind === "choices"
          ? [field.minItems, Math.min(field.maxItems ?? field.options.length, field.options.length)]
          : [];
  if (lower === undefined || upper === undefined || lower <= upper) return;
  refuse(
    place.source,
    place.subject,
    `needs at least ${lower} and allows at most ${upper}`,
    "Nobody can fill it: change one of them.",
  );
}

function compileRestricted(schema: RestrictedSchema): Form<unknown> {
  const { fields, requestedSchema, emptyContent } = readShape(schema, "literal");
  checkFormKeywords(schema);
  if (schema.$schema !== undefined) requestedSchema.$schema = schema.$schema;
  return {
    requestedSchema,
    fields,
    check(content) {
      const value = emptyContent();
      const problems: Problem[] = [];
      takeContent(fields, content, value, problems);
      return problems.length === 0 ? { ok: true, value } : { ok: false, problems };
    },
  };
}

function compileStandard(schema: StandardSchema): Form<unknown> {
  const { fields, requestedSchema, nullFields, emptyContent } = readShape(toJsonSchema(schema), "library");
  const standard = schema["~standard"];
  return {
    requestedSchema,
    fields,
    check(content) {
      const value: Record<string, unknown> = emptyContent();
      const problems: Problem[] = [];
      // Of the fields' own kinds only; null comes after.
      takeContent(fields, content, value as FormContent, problems);
      if (problems.length > 0) return { ok: false, problems };
      for (const name of nullFields) if (!Object.hasOwn(value, name)) value[name] = null;
      const result = standard.validate(value);
      return "then" in result ? result.then((settled) => conclude(settled, fields)) : conclude(result, fields);
    },
  };
}

function toJsonSchema(schema: StandardSchema): Record<string, unknown> {
  const { vendor, jsonSchema } = schema["~standard"];
  if (!isObject(jsonSchema)) {
    const wayOut =
      vendor === "valibot"
        ? "Wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema."
        : "Use zod 4.2 or newer, arktype 2.2 or newer, valibot with @valibot/to-json-schema, or a plain schema.";
    return refuse("library", "The form", `comes from a schema of ${vendor} that has no JSON Schema`, wayOut);
  }
  try {
    return jsonSchema.input({ target: "draft-2020-12", libraryOptions });
  } catch (cause) {
    throw new VolleyError(
      "form_unsupported",
      `The form cannot be written as JSON Schema, says ${vendor}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

// By default these libraries throw on what JSON Schema cannot say. What only narrows a value they check themselves when
// the answer comes back; a kind of value that is left without a type is refused here, by its field's name.
const libraryOptions = {
  unrepresentable: "any", // zod
  errorMode: "ignore", // valibot
  fallback: ({ base }: { base: unknown }): unknown => base, // arktype
};

function conclude(result: StandardResult<unknown>, fields: readonly Field[]): Checked<unknown> {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, problems: result.issues.map((issue) => problemOf(issue, fields)) };
}

function problemOf({ message, path }: StandardIssue, fields: readonly Field[]): Problem {
  const segment = path?.[0];
  const key = typeof segment === "object" ? segment.key : segment;
  const field = fields.find((candidate) => candidate.name === key);
  const text = shorten(message);
  return field === undefined
    ? { field: "", message: text }
    : { field: field.name, message: `${labelOf(field)}: ${text}` };
}

// Some libraries repeat the whole value in their message.
function shorten(message: string): string {
  return message.length <= 300 ? message : `${message.slice(0, 300).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
