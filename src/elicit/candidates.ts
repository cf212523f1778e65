import { type Place, type RawSchema, settle, spend } from "./settle.ts";

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
