import { randomFillSync } from "node:crypto";

// One call for random bytes costs as much as a whole seal, so they come in small supplies; few, and only once needed, so that a
// process which is copied as an image does not carry many over.
const pool = new Uint8Array(768);
let used = pool.length;

/** Fresh random bytes, the caller's own: they are a copy, so that nothing done to them can reach a nonce to come. */
export function randomFromPool(bytes: number): Uint8Array {
  if (bytes > pool.length) return randomFillSync(new Uint8Array(bytes));
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.slice(used - bytes, used);
}
