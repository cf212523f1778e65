import { VolleyError } from "../../protocol/index.ts";

/** A value as JSON has it, and the text that was measured. */
export interface JsonCopy {
  readonly value: unknown;
  readonly text: string;
}

/**
 * What a step or effect gives back: exactly what a later round will read from the journal.
 *
 * Returning nothing is allowed and comes back as nothing. Everything else that JSON would change on the way is refused
 * here, where the author can see it, and not discovered a round later.
 *
 * @throws VolleyError `json_unsupported`, naming the place
 */
export function toJsonCopy(name: string, value: unknown): JsonCopy {
  if (value === undefined) return { value: undefined, text: "" };
  checkValue(name, value, "", 0);
  const text = JSON.stringify(value);
  return { value: JSON.parse(text), text };
}

const MAX_DEPTH = 64;

function checkValue(name: string, value: unknown, path: string, depth: number): void {
  if (depth > MAX_DEPTH) refuse(name, path, `nested deeper than ${MAX_DEPTH}`);
  switch (typeof value) {
    case "string":
      if (!value.isWellFormed()) refuse(name, path, "a string with a lone surrogate");
      return;
    case "boolean":
      return;
    case "number":
      if (!Number.isFinite(value)) refuse(name, path, String(value));
      if (Object.is(value, -0)) refuse(name, path, "-0");
      return;
    case "object":
      if (value === null) return;
      break;
    default:
      refuse(name, path, `a value of type ${typeof value}`);
  }
  const object = value as Record<string, unknown>;
  if (typeof object.toJSON === "function") {
    refuse(name, path, `an object with its own JSON form (${object.constructor?.name ?? "toJSON"})`);
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) checkValue(name, value[index], `${path}[${index}]`, depth + 1);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    refuse(name, path, `an instance of ${object.constructor?.name ?? "a class"}`);
  }
  for (const key of Object.keys(object)) checkValue(name, object[key], path === "" ? key : `${path}.${key}`, depth + 1);
}

function refuse(name: string, path: string, what: string): never {
  throw new VolleyError(
    "json_unsupported",
    `"${name}" gave back ${what}${path === "" ? "" : ` at ${path}`}, which JSON does not carry. ` +
      "Return plain JSON: strings, finite numbers, booleans, null, arrays and plain objects.",
  );
}
