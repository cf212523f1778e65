/** A compact JWE, direct encryption with A256GCM; what it is bound to stands in the payload. */
import { randomBytes } from "node:crypto";
import { CompactEncrypt, compactDecrypt } from "jose";
import { type Codec, REQUEST, type Sized, TTL_MS } from "./codec.ts";

const key = await crypto.subtle.importKey("raw", randomBytes(32), "AES-GCM", false, ["encrypt", "decrypt"]);
const header = { alg: "dir", enc: "A256GCM" };
const binding = JSON.stringify(REQUEST);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

function seal(body: unknown): Promise<string> {
  const payload = JSON.stringify({ expires: Date.now() + TTL_MS, binding, body });
  return new CompactEncrypt(encoder.encode(payload)).setProtectedHeader(header).encrypt(key);
}

async function open(token: string): Promise<unknown> {
  const { plaintext } = await compactDecrypt(token, key);
  const opened = JSON.parse(decoder.decode(plaintext)) as { expires: number; binding: string; body: unknown };
  if (Date.now() > opened.expires || opened.binding !== binding) throw new Error("refused");
  return opened.body;
}

export const codec: Codec & Sized = {
  roundTrip: async (body) => open(await seal(body)),
  sealedLength: async (body) => (await seal(body)).length,
};
