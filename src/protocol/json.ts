/// <reference lib="es2024.string" />
import { ErrorCode, RpcError } from "./errors.ts";

/**
 * Refuses what JSON.parse lets through and a digest or a store cannot carry: nesting deeper than `maxDepth`, numbers beyond a
 * double (`1e400` parses as Infinity), strings and keys with lone surrogates.
 *
 * Returns whether it holds a number beyond 2^53, where JSON.parse takes the nearest double and nobody can tell.
 *
 * Throws {@link RpcError} -32602. The value itself is depth 0. Stops at the first fault, so input of any depth is safe; keep
 * `maxDepth` below 1,000.
 *
 * @example
 * ```ts
 * checkJson(JSON.parse('{"a":[1e400]}')); // throws
 * ```
 */
export function checkJson(value: unknown, maxDepth = 64): boolean {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw refused("a string with half a surrogate pair: send well-formed Unicode");
    return false;
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw refused("a number that no double holds: send it as a string");
    return isUnsafe(value);
  }
  if (typeof value !== "object" || value === null) return false;
  if (maxDepth <= 0) throw refused("too many levels of nesting: flatten the value");
  let found = false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (checkJson(value[i], maxDepth - 1)) found = true;
  } else {
    // Not `for in`: of objects that JSON.parse has made it takes eight times as long.
    for (const key of Object.keys(value)) {
      if (!key.isWellFormed()) throw refused("a member name with half a surrogate pair: send well-formed Unicode");
      if (checkJson((value as Record<string, unknown>)[key], maxDepth - 1)) found = true;
    }
  }
  return found;
}

/** True for a number beyond 2^53, which may stand for several integers. */
export function isUnsafe(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/** True when no two items are the same JSON, in time that grows with their size alone. */
export function hasUniqueItems(items: readonly unknown[]): boolean {
  return new Set(items.map((item) => JSON.stringify(item, sorted))).size === items.length;
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function refused(what: string): RpcError {
  return new RpcError(ErrorCode.InvalidParams, `The params hold ${what}`);
}
