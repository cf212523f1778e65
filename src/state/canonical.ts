import canonicalize from "canonicalize";

/**
 * The one spelling of a JSON value: keys sorted, numbers and strings as RFC 8785 writes them; `undefined` reads as `{}`.
 *
 * @param value JSON that passed `checkJson`
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export function canonicalJson(value: unknown): string {
  return canonicalize(value) ?? "{}";
}
