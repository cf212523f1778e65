import type { Box } from "./box.ts";

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
