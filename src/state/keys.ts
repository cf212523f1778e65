import { Buffer } from "node:buffer";
import { createHmac, createSecretKey, hkdfSync, randomBytes } from "node:crypto";
import { VolleyError } from "../protocol/index.ts";
import { type Box, createBox } from "./box.ts";

/** What a key is used for; each use has its own derived key. */
export type Purpose = "state" | "task" | "cursor" | "oauth" | "ledger" | "idempotency";

/** One secret of the ring, seen only through what it can do. */
export interface Key {
  /** 8 characters derived from the secret; public. */
  readonly kid: string;
  box(purpose: Purpose): Box;
  /** HMAC-SHA-256, 32 bytes. */
  mac(purpose: Purpose, data: Uint8Array | string): Buffer;
}

/** The keys of a service: the first seals, all open. */
export interface Keyring {
  readonly sealing: Key;
  /** The key of that id; a kid that is not in the ring has none and is never tried. */
  find(kid: string): Key | undefined;
  readonly kids: readonly string[];
}

const PREFIX = "vk1_";
const KEY_BYTES = 32;

/**
 * Makes a key for {@link createKeyring} or `VOLLEY_KEYS`; `volley keygen` prints one.
 *
 * @example
 * ```ts
 * const keyring = createKeyring([generateKey()]);
 * ```
 */
export function generateKey(): string {
  return PREFIX + randomBytes(KEY_BYTES).toString("base64url");
}

/**
 * Reads the keys of a service: the first seals, all open.
 *
 * To change keys without refusing states that are out, append the new key on every replica, then move it to the front, and remove
 * the old one after the longest TTL of any tool; where `once` is used, after the longest `flowMs` and `keepFor`, since what
 * effects left in the ledger is sealed as well.
 *
 * @throws VolleyError `keys_invalid`, which never shows the key
 */
export function createKeyring(keys: readonly string[]): Keyring {
  const byKid = new Map<string, Key>();
  const positions: string[] = [];
  keys.forEach((text, index) => {
    const key = createKey(readSecret(text, index + 1));
    const earlier = positions.indexOf(key.kid);
    if (earlier >= 0) {
      throw new VolleyError("keys_invalid", `Keys ${earlier + 1} and ${index + 1} are the same: give each key once.`);
    }
    byKid.set(key.kid, key);
    positions.push(key.kid);
  });
  const [first] = byKid.values();
  if (first === undefined) {
    throw new VolleyError("keys_invalid", "A key ring needs at least one key: `volley keygen` makes one.");
  }
  return { sealing: first, find: (kid) => byKid.get(kid), kids: Object.freeze(positions) };
}

/** Reads `VOLLEY_KEYS`: keys separated by commas or white space; undefined when it is not set or blank. */
export function keyringFromEnv(value: string | undefined): Keyring | undefined {
  const keys = (value ?? "").split(/[\s,]+/).filter((key) => key !== "");
  return keys.length === 0 ? undefined : createKeyring(keys);
}

/** A ring of one random key, which no other process has and which ends with this one. */
export function randomKeyring(): Keyring {
  return createKeyring([generateKey()]);
}

function readSecret(text: string, position: number): Buffer {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : "";
  const secret = Buffer.from(encoded, "base64url");
  if (secret.length !== KEY_BYTES || secret.toString("base64url") !== encoded) {
    throw new VolleyError(
      "keys_invalid",
      `Key ${position} is not a Volley key: one is "${PREFIX}" and 43 characters of base64url, as \`volley keygen\` prints it.`,
    );
  }
  return secret;
}

function createKey(secret: Buffer): Key {
  const boxes = new Map<Purpose, Box>();
  const macs = new Map<Purpose, ReturnType<typeof createSecretKey>>();
  return {
    kid: derive(secret, "kid", 6).toString("base64url"),
    box(purpose) {
      let box = boxes.get(purpose);
      if (box === undefined) {
        box = createBox(derive(secret, `${purpose} box`, 32));
        boxes.set(purpose, box);
      }
      return box;
    },
    mac(purpose, data) {
      let key = macs.get(purpose);
      if (key === undefined) {
        key = createSecretKey(derive(secret, `${purpose} mac`, 32));
        macs.set(purpose, key);
      }
      return createHmac("sha256", key).update(data).digest();
    },
  };
}

function derive(secret: Buffer, label: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", `volley-mcp v1 ${label}`, bytes));
}
