import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from "node:crypto";
import { randomFromPool } from "./random.ts";

/** Authenticated encryption under one key with a nonce of its own each time: nonce (24) || ciphertext || tag (16). */
export interface Box {
  /** Encrypts; a string is taken as UTF-8. */
  seal(plaintext: Uint8Array | string, aad: Uint8Array): Buffer;
  /** Decrypts, or undefined when anything is not as it was sealed. */
  open(sealed: Uint8Array, aad: Uint8Array): Buffer | undefined;
}

/** What a {@link Box} adds to a plaintext, in bytes. */
export const BOX_OVERHEAD = 40;

const NONCE_BYTES = 24;
/** What of the nonce the message key is derived from; AES-GCM gets the rest. */
const PREFIX_BYTES = 12;
/** Messages that one process seals under one message key: random 96-bit nonces of so many collide with a chance of 2^-57. */
const PREFIX_USES = 2 ** 20;
/** Message keys that a box keeps: those of some prefixes of some replicas. */
const KEPT_KEYS = 64;
const TAG_BYTES = 16;
const OPTIONS = { authTagLength: TAG_BYTES } as const;

/**
 * XAES-256-GCM: random nonces, and no limit that a fleet would reach, where plain AES-GCM allows 2^32 messages a key.
 *
 * @param key 32 bytes
 * @param nextNonce 24 bytes, never the same again; only tests give their own
 * @see https://c2sp.org/XAES-256-GCM
 */
export function createBox(key: Uint8Array, nextNonce: () => Uint8Array = createNonces()): Box {
  // ECB is the bare block function, which the key derivation is made of. It has no state between blocks, so one serves for good.
  const block = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false);
  const mask = cmacSubkey(block.update(Buffer.alloc(16)));
  // Both one-block CMAC inputs side by side: counter, label "X" and a zero byte, then the first 12 bytes of the nonce.
  const inputs = Buffer.alloc(32);
  for (const [counter, at] of [
    [1, 0],
    [2, 16],
  ] as const) {
    inputs.set([0, counter, 0x58, 0], at);
    for (let i = 0; i < 4; i++) inputs[at + i]! ^= mask[i]!;
  }

  const kept = new Map<string, KeyObject>();

  function messageKey(nonce: Uint8Array): KeyObject {
    for (let i = 0; i < PREFIX_BYTES; i++) inputs[4 + i] = inputs[20 + i] = nonce[i]! ^ mask[4 + i]!;
    // A KeyObject, because raw keys make a cipher ten times as slow to create on Node 24.
    return createSecretKey(block.update(inputs));
  }

  function keep(prefix: string, secret: KeyObject): void {
    if (kept.has(prefix)) return;
    if (kept.size >= KEPT_KEYS) kept.delete(kept.keys().next().value as string);
    kept.set(prefix, secret);
  }

  return {
    seal(plaintext, aad) {
      const nonce = nextNonce();
      const prefix = prefixOf(nonce);
      const secret = kept.get(prefix) ?? messageKey(nonce);
      keep(prefix, secret);
      const cipher = createCipheriv("aes-256-gcm", secret, nonce.subarray(PREFIX_BYTES), OPTIONS);
      cipher.setAAD(aad);
      // GCM is a stream: update gives all of the ciphertext, final only computes the tag.
      const ciphertext = typeof plaintext === "string" ? cipher.update(plaintext, "utf8") : cipher.update(plaintext);
      cipher.final();
      const sealed = Buffer.allocUnsafe(BOX_OVERHEAD + ciphertext.length);
      sealed.set(nonce);
      sealed.set(ciphertext, NONCE_BYTES);
      sealed.set(cipher.getAuthTag(), NONCE_BYTES + ciphertext.length);
      return sealed;
    },
    open(sealed, aad) {
      const end = sealed.length - TAG_BYTES;
      if (end < NONCE_BYTES) return undefined;
      const prefix = prefixOf(sealed);
      const secret = kept.get(prefix) ?? messageKey(sealed);
      const nonce = sealed.subarray(PREFIX_BYTES, NONCE_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", secret, nonce, OPTIONS);
      decipher.setAAD(aad);
      decipher.setAuthTag(sealed.subarray(end));
      const plaintext = decipher.update(sealed.subarray(NONCE_BYTES, end));
      try {
        decipher.final();
      } catch {
        return undefined;
      }
      // Only now: what a forger makes up must not push out what is used.
      keep(prefix, secret);
      return plaintext;
    },
  };
}

/**
 * Random nonces whose first half serves for many messages, so that their key is derived once.
 */
function createNonces(): () => Uint8Array {
  let prefix: Uint8Array = Buffer.alloc(0);
  let left = 0;
  return () => {
    if (left === 0) {
      prefix = randomFromPool(PREFIX_BYTES);
      left = PREFIX_USES;
    }
    left--;
    const nonce = new Uint8Array(NONCE_BYTES);
    nonce.set(prefix);
    nonce.set(randomFromPool(NONCE_BYTES - PREFIX_BYTES), PREFIX_BYTES);
    return nonce;
  };
}

function prefixOf(sealed: Uint8Array): string {
  return Buffer.from(sealed.buffer, sealed.byteOffset, PREFIX_BYTES).toString("latin1");
}

/** CMAC's K1: the encrypted zero block doubled in GF(2^128). */
function cmacSubkey(zero: Buffer): Buffer {
  const doubled = Buffer.alloc(16);
  for (let i = 0; i < 16; i++) doubled[i] = (zero[i]! << 1) | ((zero[i + 1] ?? 0) >> 7);
  if (zero[0]! & 0x80) doubled[15]! ^= 0x87;
  return doubled;
}
