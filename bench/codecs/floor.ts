/** Plain AES-256-GCM with random nonces and no binding: safe for 2^32 messages a key, which is why Volley does more. */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from "node:crypto";
import type { Codec, Sized } from "./codec.ts";

// A KeyObject: from raw bytes a cipher takes far longer to make on Node 24.
const key = createSecretKey(randomBytes(32));

function seal(body: unknown): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  return Buffer.concat([nonce, cipher.update(JSON.stringify(body)), cipher.final(), cipher.getAuthTag()]).toString(
    "base64url",
  );
}

function open(token: string): unknown {
  const bytes = Buffer.from(token, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  return JSON.parse(`${decipher.update(bytes.subarray(12, -16), undefined, "utf8")}${decipher.final("utf8")}`);
}

export const codec: Codec & Sized = {
  roundTrip: (body) => open(seal(body)),
  sealedLength: (body) => seal(body).length,
};
