import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/** SHA-256 of a text's UTF-8, as 43 characters of base64url. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Bytes in the alphabet of URLs, without padding. */
export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}
