import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

/**
 * The one spelling of a JSON value: keys sorted, numbers and strings as RFC 8785 writes them; `undefined` reads as `{}`.
 *
 * @param value JSON that passed `checkJson`
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export function canonicalJson(value: unknown): string {
  if (value === undefined) return "{}";
  // Numbers and strings are written as JavaScript writes them, so that keys in order are all that is left to care for.
  return (isInOrder(value) ? JSON.stringify(value) : canonicalize(value)) as string;
}

/** Whether the keys of every object stand in the order of RFC 8785, by UTF-16 code units. */
function isInOrder(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  let last = "";
  for (const key of Object.keys(value)) {
    if (key < last || !isInOrder((value as Record<string, unknown>)[key])) return false;
    last = key;
  }
  return true;
}

/** SHA-256 of a text's UTF-8, as 43 characters of base64url. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Bytes in the alphabet of URLs, without padding. */
export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}
