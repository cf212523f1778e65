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
  return canonicalize(value) ?? "{}";
}

/** SHA-256 of a text's UTF-8, as 43 characters of base64url. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Bytes in the alphabet of URLs, without padding. */
export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}
