import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createBox } from "../../../src/state/box.ts";

const NONCE = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWX");

// The two vectors of https://c2sp.org/XAES-256-GCM; the first derives K1 without, the second with the reduction.
test.each([
  { fill: 0x01, aad: "", ciphertext: "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271" },
  { fill: 0x03, aad: "c2sp.org/XAES-256-GCM", ciphertext: "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d" },
])("X3: XAES-256-GCM, published vector with key bytes $fill", ({ fill, aad, ciphertext }) => {
  const box = createBox(Buffer.alloc(32, fill), () => NONCE);
  const sealed = box.seal("XAES-256-GCM", Buffer.from(aad));
  expect(sealed.toString("hex")).toBe(NONCE.toString("hex") + ciphertext);
  expect(box.open(sealed, Buffer.from(aad))?.toString()).toBe("XAES-256-GCM");
});

test("X3: XAES-256-GCM, the published hash over 10,000 random messages", () => {
  const stream = createHash("shake128", { outputLength: 4_000_000 }).digest();
  let at = 0;
  const take = (bytes: number): Buffer => {
    at += bytes;
    return stream.subarray(at - bytes, at);
  };
  const hash = createHash("shake128", { outputLength: 32 });
  for (let i = 0; i < 10_000; i++) {
    const key = take(32);
    const nonce = take(24);
    const plaintext = take(take(1)[0]!);
    const aad = take(take(1)[0]!);
    const sealed = createBox(key, () => nonce).seal(plaintext, aad);
    hash.update(sealed.subarray(24));
  }
  expect(at).toBeLessThan(stream.length);
  expect(hash.digest("hex")).toBe("e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939");
});

test("X3: what one box seals it opens, in any order, with a nonce of its own each", () => {
  const box = createBox(Buffer.alloc(32, 7));
  const aad = Buffer.from("aad");
  const sealed = Array.from({ length: 500 }, (_, i) => box.seal(`message ${i}`, aad));
  expect(new Set(sealed.map((bytes) => bytes.toString("hex", 0, 24))).size).toBe(500);
  expect(sealed.map((bytes) => box.open(bytes, aad)?.toString()).reverse()).toEqual(
    Array.from({ length: 500 }, (_, i) => `message ${499 - i}`),
  );
});

test("X3: boxes of one key open each other's messages, whose nonces share a first half only within one of them", () => {
  const key = Buffer.alloc(32, 7);
  const aad = Buffer.from("aad");
  // More of them than a box keeps message keys.
  const boxes = Array.from({ length: 100 }, () => createBox(key));
  const sealed = boxes.flatMap((box, i) => [box.seal(`first ${i}`, aad), box.seal(`second ${i}`, aad)]);
  const firstHalves = sealed.map((bytes) => bytes.toString("hex", 0, 12));
  expect(new Set(firstHalves).size).toBe(100);
  expect(firstHalves[0]).toBe(firstHalves[1]);
  expect(new Set(sealed.map((bytes) => bytes.toString("hex", 12, 24))).size).toBe(200);
  const reader = createBox(key);
  for (const pass of [1, 2]) {
    const texts = sealed.map((bytes) => reader.open(bytes, aad)?.toString());
    expect([pass, texts[0], texts[1], texts[199]]).toEqual([pass, "first 0", "second 0", "second 99"]);
    expect(texts).not.toContain(undefined);
  }
});

test("S7: a message key that a box has kept opens nothing that is altered, and still what it sealed after many forgeries", () => {
  const aad = Buffer.from("aad");
  const box = createBox(Buffer.alloc(32, 7));
  const sealed = box.seal("text", aad);
  for (let i = 0; i < 200; i++) {
    const forged = Buffer.from(sealed);
    forged.writeUInt32BE(i, 0);
    expect(box.open(forged, aad)).toBeUndefined();
    const otherTag = Buffer.from(sealed);
    otherTag[sealed.length - 1 - (i % 16)]! ^= 1;
    expect(box.open(otherTag, aad)).toBeUndefined();
  }
  expect(box.open(sealed, aad)?.toString()).toBe("text");
});

test("S7: a box opens nothing that is altered, cut, too short or sealed beside other associated data", () => {
  const box = createBox(Buffer.alloc(32, 7));
  const sealed = box.seal("text", Buffer.from("aad"));
  for (let i = 0; i < sealed.length; i++) {
    const altered = Buffer.from(sealed);
    altered[i]! ^= 1;
    expect(box.open(altered, Buffer.from("aad"))).toBeUndefined();
    expect(box.open(sealed.subarray(0, i), Buffer.from("aad"))).toBeUndefined();
  }
  expect(box.open(sealed, Buffer.from("aae"))).toBeUndefined();
  expect(box.open(sealed, Buffer.alloc(0))).toBeUndefined();
  expect(createBox(Buffer.alloc(32, 8)).open(sealed, Buffer.from("aad"))).toBeUndefined();
});
