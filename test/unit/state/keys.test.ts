import { inspect } from "node:util";
import { expect, test } from "vitest";
import { createKeyring, generateKey, keyringFromEnv, type Purpose, randomKeyring } from "../../../src/state/index.ts";
import { codeOf, errorOf, KEY_1, KEY_2 } from "./fixtures.ts";

test("X3: a key is vk1_ and 32 random bytes", () => {
  expect(generateKey()).toMatch(/^vk1_[A-Za-z0-9_-]{43}$/);
  expect(generateKey()).not.toBe(generateKey());
  expect(randomKeyring().kids).not.toEqual(randomKeyring().kids);
});

test("X3: the first key of a ring seals, all are found, an unknown id has none", () => {
  const ring = createKeyring([KEY_1, KEY_2]);
  expect(ring.kids).toEqual(["OMCLDTGo", "hwgPzUSm"]);
  expect(ring.sealing).toBe(ring.find("OMCLDTGo"));
  expect(ring.find("hwgPzUSm")?.kid).toBe("hwgPzUSm");
  for (const kid of ["", "omcldtgo", "constructor", "__proto__"]) expect(ring.find(kid)).toBeUndefined();
});

test("X3: each purpose has a key of its own, the same on every instance", () => {
  const key = createKeyring([KEY_1]).sealing;
  expect(key.mac("idempotency", "data").toString("hex")).toBe(
    "f2163c762c273c90f6599b20bdf605059c44c8680ceb76fcd26e8ab346dc0901",
  );
  const purposes: Purpose[] = ["state", "task", "cursor", "oauth", "ledger", "idempotency"];
  expect(new Set(purposes.map((purpose) => key.mac(purpose, "data").toString("hex"))).size).toBe(6);
  const aad = Buffer.from("aad");
  const other = createKeyring([KEY_1]).sealing;
  for (const sealedFor of purposes) {
    const sealed = key.box(sealedFor).seal("text", aad);
    const opened = purposes.filter((purpose) => other.box(purpose).open(sealed, aad) !== undefined);
    expect(opened).toEqual([sealedFor]);
  }
});

test("X3: VOLLEY_KEYS takes commas and white space; blank is as good as absent", () => {
  for (const value of [`${KEY_1},${KEY_2}`, ` ${KEY_1}\n${KEY_2} `, `${KEY_1} ,\t${KEY_2},`]) {
    expect(keyringFromEnv(value)?.kids).toEqual(["OMCLDTGo", "hwgPzUSm"]);
  }
  for (const value of [undefined, "", " \n", ","]) expect(keyringFromEnv(value)).toBeUndefined();
});

test("X3: what is no key is refused by its position and never shown", () => {
  const text = KEY_2.slice(4);
  const wrong = [
    "",
    text,
    `vk2_${text}`,
    `vk1_${text}=`,
    `vk1_${text}A`,
    `vk1_${text.slice(1)}`,
    `vk1_${text} `,
    `VK1_${text}`,
  ];
  // The last character of 32 bytes carries four bits; the other spellings of the same bytes are no keys either.
  wrong.push(`vk1_${text.slice(0, -1)}J`);
  for (const key of wrong) {
    const error = errorOf(() => createKeyring([KEY_1, key]));
    expect(codeOf(error)).toBe("keys_invalid");
    expect(error.message).toBe(
      'Key 2 is not a Volley key: one is "vk1_" and 43 characters of base64url, as `volley keygen` prints it.',
    );
  }
});

test("X3: a ring without keys, or with the same key twice, is a mistake", () => {
  expect(errorOf(() => createKeyring([])).message).toBe(
    "A key ring needs at least one key: `volley keygen` makes one.",
  );
  expect(errorOf(() => createKeyring([KEY_1, KEY_2, KEY_1])).message).toBe(
    "Keys 1 and 3 are the same: give each key once.",
  );
});

test("X3: a ring that is logged does not show its secrets", () => {
  const ring = createKeyring([KEY_1]);
  ring.sealing.box("state");
  ring.sealing.mac("state", "");
  const shown = inspect(ring, { depth: 10, showHidden: true }) + JSON.stringify(ring);
  expect(shown).toContain("OMCLDTGo");
  expect(shown).not.toContain(KEY_1.slice(4, 20));
  expect(shown).not.toMatch(/<Buffer|01 01 01/);
});
