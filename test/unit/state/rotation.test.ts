import { expect, test } from "vitest";
import { createKeyring, createSealer, type Keyring, type Sealer } from "../../../src/state/index.ts";
import { AUDIENCE, BINDING, bind, KEY_1, KEY_2, MAX, NOW, refusal, TIMES } from "./fixtures.ts";

const replica = (...keys: string[]): Sealer => createSealer({ keyring: createKeyring(keys), audience: AUDIENCE });
const seal = (sealer: Sealer): string => sealer.bind(BINDING).seal({ round: 1 }, TIMES, MAX);
const open = (sealer: Sealer, token: string): string => refusal(() => sealer.bind(BINDING).open(token, NOW, MAX));

test("X3: case 38: keys change under waiting rounds, one replica after another, and no state is refused", () => {
  // Each line is the fleet at one moment: append everywhere, then move to the front.
  const moments = [
    [[KEY_1], [KEY_1], [KEY_1]],
    [[KEY_1, KEY_2], [KEY_1], [KEY_1]],
    [[KEY_1, KEY_2], [KEY_1, KEY_2], [KEY_1]],
    [
      [KEY_1, KEY_2],
      [KEY_1, KEY_2],
      [KEY_1, KEY_2],
    ],
    [
      [KEY_2, KEY_1],
      [KEY_1, KEY_2],
      [KEY_1, KEY_2],
    ],
    [
      [KEY_2, KEY_1],
      [KEY_2, KEY_1],
      [KEY_1, KEY_2],
    ],
    [
      [KEY_2, KEY_1],
      [KEY_2, KEY_1],
      [KEY_2, KEY_1],
    ],
  ];
  const waiting: string[] = [];
  for (const fleet of moments) {
    const replicas = fleet.map((keys) => replica(...keys));
    waiting.push(...replicas.map(seal));
    for (const token of waiting) expect(replicas.map((sealer) => open(sealer, token))).toEqual(Array(3).fill("opened"));
  }
  expect(new Set(waiting.map((token) => token.slice(0, 12)))).toEqual(new Set(["v1.OMCLDTGo.", "v1.hwgPzUSm."]));

  const removed = replica(KEY_2);
  for (const token of waiting) expect(open(removed, token)).toBe(token.startsWith("v1.hwgPzUSm.") ? "opened" : "kid");
});

test("X3: case 38: a round goes from one key to the other within one binding", () => {
  const bound = bind({}, AUDIENCE, [KEY_2, KEY_1]);
  const old = seal(replica(KEY_1));
  expect(bound.open(old, NOW, MAX).kid).toBe("OMCLDTGo");
  const renewed = bound.seal({ round: 2 }, TIMES, MAX);
  expect(open(replica(KEY_2), renewed)).toBe("opened");
  expect(bound.open(old, NOW, MAX).kid).toBe("OMCLDTGo");
});

test("X3: a new key that seals before every replica has it is refused by the others: rotation is two steps", () => {
  expect(open(replica(KEY_1), seal(replica(KEY_2, KEY_1)))).toBe("kid");
});

test("S7: an unknown key id is never tried, not even with the key that sealed", () => {
  const known = createKeyring([KEY_1]);
  const forgetful: Keyring = {
    sealing: {
      ...known.sealing,
      box: () => {
        throw new Error("tried");
      },
    },
    find: () => undefined,
    kids: [],
  };
  const sealer = createSealer({ keyring: forgetful, audience: AUDIENCE });
  expect(open(sealer, seal(replica(KEY_1)))).toBe("kid");
});

test("S7: a state under the id of another key is refused", () => {
  const token = seal(replica(KEY_1));
  expect(open(replica(KEY_1, KEY_2), token.replace("OMCLDTGo", "hwgPzUSm"))).toBe("authentication");
  expect(open(replica(KEY_1), token.replace("OMCLDTGo", "hwgPzUSm"))).toBe("kid");
});
