import { problemWith } from "./check.ts";
import type { Field, NumberField, Option, StringField } from "./form.ts";
import { formats } from "./formats.ts";
import { refuse } from "./refusal.ts";
import { type Candidate, candidates, type Place, type RawSchema, settle, unionWayOut, variantsOf } from "./settle.ts";

/** A field as read, and what its schema said beyond what a person sees. */
export interface ReadField {
  readonly field: Field;
  /** Its schema as it came, and the same without references and null. */
  readonly raw: unknown;
  readonly schema: RawSchema;
  /** The schema requires it and takes null for it: the form may leave it out, and null stands in for it then. */
  readonly nullWhenAbsent: boolean;
  /** How the titles of its options were written, so that they go out in the same way. */
  readonly titles: Titles;
}

type Titles = "none" | "each" | "legacy";
type Read = Pick<ReadField, "field" | "titles">;
type Base = Pick<Field, "name" | "title" | "description" | "required"> & { readonly default: undefined };

/** Reads one property of a form's schema; throws where a form cannot say it, whoever wrote it. */
export function readField(name: string, raw: unknown, isRequired: boolean, place: Place): ReadField {
  const { schema, nullable } = settle(raw, place);
  const base: Base = {
    name,
    title: textOf(schema.title),
    description: textOf(schema.description),
    required: isRequired && !nullable,
    default: undefined,
  };
  const { field, titles } = readKind(base, schema, place);
  return { field: withDefault(field, schema.default), raw, schema, nullWhenAbsent: isRequired && nullable, titles };
}

function readKind(base: Base, schema: RawSchema, place: Place): Read {
  const values = candidates(schema, false, place);
  if (values !== undefined) return readValues(base, values, schema, place);
  const type = schema.type ?? commonType(schema, place);
  switch (type) {
    case "string":
      return { field: readText(base, schema, place), titles: "none" };
    case "number":
      return { field: readNumber(base, "number", schema, place), titles: "none" };
    case "integer":
      return { field: readNumber(base, "integer", schema, place), titles: "none" };
    case "boolean":
      return { field: { ...base, kind: "boolean" }, titles: "none" };
    case "array":
      return readList(base, schema, place);
    case "object":
      return refuse(
        place.source,
        place.subject,
        "is a nested object",
        "Flatten it into fields of the form itself, or ask several questions.",
      );
  }
  if (variantsOf(schema) !== undefined) {
    return refuse(place.source, place.subject, "is a union of different kinds of values", unionWayOut);
  }
  return refuse(
    place.source,
    place.subject,
    "is of a kind that a form cannot ask for",
    "Ask for text, a number, a boolean or a choice, and turn it into what you need with a transform; a date is text with the format date or date-time.",
  );
}

// A union of kinds of text is still text: the library tells them apart when the answer comes back.
function commonType(schema: RawSchema, place: Place): string | undefined {
  const types = new Set<unknown>();
  for (const variant of variantsOf(schema) ?? []) {
    const inner = settle(variant, place).schema;
    types.add(inner.type ?? typeof inner.const);
  }
  const [type] = types;
  return types.size === 1 && (type === "string" || type === "number" || type === "integer") ? type : undefined;
}

function readText(base: Base, schema: RawSchema, place: Place): StringField {
  const { format } = schema;
  if (place.source === "library" && (format === "binary" || schema.contentEncoding !== undefined)) {
    return refuse(place.source, place.subject, "is a file", "Ask with elicitUrl and let the page take the file.");
  }
  return {
    ...base,
    kind: "string",
    minLength: lengthOf(schema.minLength),
    maxLength: lengthOf(schema.maxLength),
    format: isFormat(format) ? format : undefined,
  };
}

function isFormat(format: unknown): format is keyof typeof formats {
  return typeof format === "string" && Object.hasOwn(formats, format);
}

function readNumber(base: Base, kind: NumberField["kind"], schema: RawSchema, place: Place): NumberField {
  // The form on the wire has inclusive bounds only. For integers the next one says the same; for numbers the bound itself is
  // the nearest that can be said.
  const isInteger = kind === "integer";
  const above = numberOf(schema.exclusiveMinimum);
  const below = numberOf(schema.exclusiveMaximum);
  const lower = [numberOf(schema.minimum), isInteger && above !== undefined ? Math.floor(above) + 1 : above];
  const upper = [numberOf(schema.maximum), isInteger && below !== undefined ? Math.ceil(below) - 1 : below];
  // Libraries give every integer the bounds of safe integers, which tell a person nothing.
  const bounds = isInteger && place.source !== "literal" ? Number.MAX_SAFE_INTEGER : Number.POSITIVE_INFINITY;
  const minimum = Math.max(...lower.map((value) => value ?? Number.NEGATIVE_INFINITY));
  const maximum = Math.min(...upper.map((value) => value ?? Number.POSITIVE_INFINITY));
  return {
    ...base,
    kind,
    minimum: minimum > -bounds ? minimum : undefined,
    maximum: maximum < bounds ? maximum : undefined,
    ...(minimum === lower[1] && !isInteger ? { above: true } : {}),
    ...(maximum === upper[1] && !isInteger ? { below: true } : {}),
  };
}

function readList(base: Base, schema: RawSchema, place: Place): Read {
  const { items } = schema;
  const values =
    items === undefined || items === false ? undefined : candidates(settle(items, place).schema, true, place);
  if (values === undefined || !values.every(isTextual)) {
    return refuse(
      place.source,
      place.subject,
      "is a list of something else than choices between strings",
      "Give its items an enum of strings, or ask for one text and split it with a transform.",
    );
  }
  const titles = titlesOf(values, undefined);
  const minItems = lengthOf(schema.minItems);
  const maxItems = lengthOf(schema.maxItems);
  return { field: { ...base, kind: "choices", options: optionsOf(values, place), minItems, maxItems }, titles };
}

function readValues(base: Base, all: readonly Candidate[], schema: RawSchema, place: Place): Read {
  const values = all.filter(({ value }) => value !== null);
  if (values.length > 0 && values.every(({ value }) => typeof value === "boolean")) {
    return { field: { ...base, kind: "boolean" }, titles: "none" };
  }
  if (values.every(isTextual)) {
    const titles = titlesOf(values, schema.enumNames);
    return { field: { ...base, kind: "choice", options: optionsOf(values, place) }, titles };
  }
  return refuse(
    place.source,
    place.subject,
    "is a choice between values that are not all strings",
    "Offer the choices as strings and turn them into what you need with a transform; for a range of numbers use an integer with a minimum and a maximum.",
  );
}

interface TextualCandidate extends Candidate {
  readonly value: string;
}

function isTextual(candidate: Candidate): candidate is TextualCandidate {
  return typeof candidate.value === "string";
}

function titlesOf(values: readonly Candidate[], enumNames: unknown): Titles {
  if (values.every(({ title }) => title === undefined)) return "none";
  return enumNames === undefined ? "each" : "legacy";
}

function optionsOf(values: readonly TextualCandidate[], place: Place): readonly Option[] {
  if (values.length === 0) refuse(place.source, place.subject, "is a choice of nothing", "Give it at least one value.");
  const options = new Map<string, Option>();
  for (const { value, title } of values) if (!options.has(value)) options.set(value, { value, label: title ?? value });
  return [...options.values()];
}

// A default that the form itself would refuse is worse than none: submitted untouched, it comes back as a problem.
function withDefault(field: Field, value: unknown): Field {
  if (value === undefined || problemWith(field, value) !== undefined) return field;
  // problemWith has seen that the value is one of the field's own kind.
  return { ...field, default: Array.isArray(value) ? [...value] : value } as Field;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function lengthOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
