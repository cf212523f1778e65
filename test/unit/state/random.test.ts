import { expect, test } from "vitest";
import { randomFromPool } from "../../../src/state/index.ts";

test("X3: random bytes come in any number, and none twice", () => {
  for (const bytes of [0, 1, 24, 767, 768, 769, 5_000]) expect(randomFromPool(bytes)).toHaveLength(bytes);
  const seen = new Set(Array.from({ length: 1_000 }, () => Buffer.from(randomFromPool(16)).toString("hex")));
  expect(seen.size).toBe(1_000);
});

test("X3: what a caller does to its bytes reaches nobody else's", () => {
  const mine = Array.from({ length: 100 }, () => randomFromPool(24));
  for (const bytes of mine) bytes.fill(0);
  const next = Array.from({ length: 100 }, () => randomFromPool(24));
  for (const bytes of mine) bytes.fill(0);
  expect(next.filter((bytes) => bytes.every((byte) => byte === 0))).toEqual([]);
});
