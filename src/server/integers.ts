// Integers that JSON.parse has made into other ones: beyond 2^53 a double stands for several.
import { isObject, isUnsafe } from "../protocol/index.ts";

/**
 * Where in a tool's arguments the schema says integer and the value is beyond 2^53, as `order.id`; undefined if nowhere.
 *
 * A number of that size is legal where the schema also says number: then nobody counts on its last digit.
 */
export function findUnsafeInteger(schema: unknown, args: unknown): string | undefined {
  return find([schema], args, schema, "");
}

function find(schemas: readonly unknown[], value: unknown, root: unknown, path: string): string | undefined {
  const all = expand(schemas, root);
  if (isUnsafe(value)) return says(all, "integer") && !says(all, "number") ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const inner = all.flatMap((schema) => (Array.isArray(value) ? itemOf(schema, Number(key)) : memberOf(schema, key)));
    const found = find(inner, member, root, path === "" ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Every schema that may have a say about the same value. */
function expand(schemas: readonly unknown[], root: unknown): readonly Record<string, unknown>[] {
  const all = new Set<Record<string, unknown>>();
  const add = (schema: unknown): void => {
    if (!isObject(schema) || all.has(schema)) return;
    all.add(schema);
    for (const keyword of ["allOf", "anyOf", "oneOf"]) {
      const parts = schema[keyword];
      if (Array.isArray(parts)) for (const part of parts) add(part);
    }
    for (const keyword of ["if", "then", "else"]) add(schema[keyword]);
    if (typeof schema.$ref === "string") add(resolve(schema.$ref, root));
  };
  for (const schema of schemas) add(schema);
  return [...all];
}

function resolve(ref: string, root: unknown): unknown {
  if (!ref.startsWith("#")) return undefined;
  let target = root;
  for (const part of ref.slice(1).split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) return undefined;
    target = (target as Record<string, unknown>)[key];
  }
  return target;
}

function says(schemas: readonly Record<string, unknown>[], name: string): boolean {
  return schemas.some(({ type }) => type === name || (Array.isArray(type) && type.includes(name)));
}

function itemOf({ prefixItems, items }: Record<string, unknown>, index: number): unknown {
  return Array.isArray(prefixItems) && index < prefixItems.length ? prefixItems[index] : items;
}

function memberOf({ properties, additionalProperties }: Record<string, unknown>, key: string): unknown {
  return isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
}
