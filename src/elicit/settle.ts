import { isObject } from "../protocol/index.ts";
import { refuse, type Source } from "./refusal.ts";

/** A field's JSON Schema as it came. */
export type RawSchema = Record<string, unknown>;

/** Where a field stands, for what has to be looked up or refused. */
export interface Place {
  readonly source: Source;
  readonly root: RawSchema;
  readonly subject: string;
  /** Shared by all fields of a form: references let a short document from a peer describe a form without end. */
  readonly budget: { left: number };
}

/** A schema without references and null, and whether null was one of its values. */
export interface Settled {
  readonly schema: RawSchema;
  readonly nullable: boolean;
}

/** Resolves what libraries wrap around a field: references into the same document, single `allOf`, null beside a type. */
export function settle(raw: unknown, place: Place, depth = 0): Settled {
  spend(place, 1);
  if (!isObject(raw)) return refuse(place.source, place.subject, "is no JSON Schema object", "Give it a type.");
  if (depth > 16) return refuse(place.source, place.subject, "refers to itself", "Flatten it into plain fields.");
  if (raw.$ref !== undefined) {
    const { $ref: reference, ...siblings } = raw;
    return settle({ ...resolve(reference, place), ...siblings }, place, depth + 1);
  }
  if (Array.isArray(raw.allOf) && raw.allOf.length === 1 && isObject(raw.allOf[0])) {
    const { allOf, ...siblings } = raw;
    return settle({ ...raw.allOf[0], ...siblings }, place, depth + 1);
  }
  if (Array.isArray(raw.type)) return settleTypes(raw, raw.type, place, depth);
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const variants = raw[keyword];
    if (Array.isArray(variants) && variants.some(isNull)) return settleVariants(raw, keyword, variants, place, depth);
  }
  if (Array.isArray(raw.enum) && raw.enum.includes(null)) {
    return { schema: { ...raw, enum: raw.enum.filter((value) => value !== null) }, nullable: true };
  }
  return { schema: raw, nullable: false };
}

function settleTypes(raw: RawSchema, types: readonly unknown[], place: Place, depth: number): Settled {
  const others = types.filter((type) => type !== "null");
  if (others.length > 1) return refuse(place.source, place.subject, "has several types", unionWayOut);
  const { schema } = settle({ ...raw, type: others[0] ?? "null" }, place, depth + 1);
  return { schema, nullable: others.length < types.length };
}

function settleVariants(
  raw: RawSchema,
  keyword: "anyOf" | "oneOf",
  variants: readonly unknown[],
  place: Place,
  depth: number,
): Settled {
  const { [keyword]: _, ...siblings } = raw;
  const others = variants.filter((variant) => !isNull(variant));
  const only = others[0];
  if (others.length === 1 && isObject(only)) {
    return { schema: settle({ ...only, ...siblings }, place, depth + 1).schema, nullable: true };
  }
  return { schema: { ...siblings, [keyword]: others }, nullable: true };
}

function isNull(variant: unknown): boolean {
  return isObject(variant) && (variant.type === "null" || variant.const === null);
}

function resolve(reference: unknown, place: Place): RawSchema {
  const parts = typeof reference === "string" ? /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) : null;
  const definitions = parts === null ? undefined : place.root[parts[1] ?? ""];
  const name = unescapePointer(parts?.[2] ?? "");
  const target = isObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (!isObject(target)) {
    return refuse(
      place.source,
      place.subject,
      "refers to a schema elsewhere",
      "Write the field's schema in its place.",
    );
  }
  spend(place, Object.keys(target).length);
  return target;
}

/** Counts work on a form and refuses one that is out of all proportion. */
export function spend(place: Place, units: number): void {
  place.budget.left -= units;
  if (place.budget.left < 0) refuse(place.source, "The form", "is too large", "Ask several smaller questions.");
}

function unescapePointer(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}

export const unionWayOut =
  "Ask for one kind of value, or for a choice between strings; or ask several questions, one after the other.";

/** One value that a person may choose, and its title where it has one. */
export interface Candidate {
  readonly value: unknown;
  readonly title: string | undefined;
}

/**
 * Every value that a schema made of `enum`, `const` and unions of them allows; undefined when it is not made of them.
 *
 * The title of a `const` is that of the value only where it is one of several or an item of a list, else of the field.
 */
export function candidates(schema: RawSchema, isVariant: boolean, place: Place, depth = 0): Candidate[] | undefined {
  if (Object.hasOwn(schema, "const")) {
    const title = isVariant && typeof schema.title === "string" ? schema.title : undefined;
    return [{ value: schema.const, title }];
  }
  if (Array.isArray(schema.enum)) return enumCandidates(schema.enum, schema.enumNames, place);
  const variants = variantsOf(schema);
  if (variants === undefined || depth > 16) return undefined;
  const all: Candidate[] = [];
  for (const variant of variants) {
    const inner = candidates(settle(variant, place).schema, true, place, depth + 1);
    if (inner === undefined) return undefined;
    for (const candidate of inner) all.push(candidate);
  }
  return all;
}

/** The members of a union. */
export function variantsOf(schema: RawSchema): readonly unknown[] | undefined {
  const variants = schema.oneOf ?? schema.anyOf;
  return Array.isArray(variants) ? variants : undefined;
}

function enumCandidates(values: readonly unknown[], names: unknown, place: Place): Candidate[] {
  spend(place, values.length);
  const titles: readonly unknown[] = Array.isArray(names) ? names : [];
  return values.map((value, index) => {
    const title = titles[index];
    return { value, title: typeof title === "string" ? title : undefined };
  });
}
