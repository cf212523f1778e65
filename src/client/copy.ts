// Copies of what a caller has handed over, since every round has to send the same.

/** A copy of a value as JSON carries it; strings, which may be large, are shared. */
export function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const prototype = Object.getPrototypeOf(value);
  const isPlain = (prototype === Object.prototype || prototype === null) && !("toJSON" in value);
  if (!isPlain) return JSON.parse(JSON.stringify(value));
  // Unlike an assignment, this takes a key `__proto__` for a key.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyJson(member)])) as T;
}
