import { Buffer } from "node:buffer";
import { randomFillSync } from "node:crypto";

// One call for random bytes costs as much as a whole seal, so they come in small supplies; few, and only once needed, so that a
// process which is copied as an image does not carry many over.
const pool = Buffer.alloc(768);
let used = pool.length;

/** Fresh random bytes, at most 64, which are the caller's until it asks again 32 times: copy what must last longer. */
export function randomFromPool(bytes: number): Uint8Array {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}
