import { describe, expect, test } from "vitest";
import { FOUND } from "./found.ts";
import { KNOWN_AT_BASE } from "./known.ts";
import { hash } from "./luck.ts";
import { PLANTED } from "./planted/index.ts";
import { playSchedule } from "./schedule.ts";

const SCHEDULES = 2_000;
const PATIENCE_MS = 300_000;

describe("schedules", () => {
  test("X1, X5: nothing is violated in any of them", { timeout: PATIENCE_MS }, async () => {
    for (let index = 0; index < SCHEDULES; index++) {
      const seed = hash(20_261_207, `schedule/${index}`);
      const { violations } = await playSchedule(seed, { known: KNOWN_AT_BASE });
      expect({ seed, violations }).toEqual({ seed, violations: [] });
    }
  });

  test("the same seed plays the same schedule to the letter, another seed another one", async () => {
    for (const seed of [3, 10_535, 31_324, 52_632]) {
      const [once, again] = [await playSchedule(seed), await playSchedule(seed)];
      expect(again).toEqual(once);
      expect(once.lines).not.toEqual((await playSchedule(seed + 1)).lines);
    }
  });
});

describe("faults of the library that were found", () => {
  test.each(FOUND)("$finds, by seed $options.seed: $violation", async ({ finds, options, violation }) => {
    const { violations } = await playSchedule(options.seed, { ...options, known: [] });
    expect(violations.map(withoutNumbers)).toEqual(KNOWN_AT_BASE.includes(finds) ? [violation] : []);
  });
});

describe("faults that were planted", () => {
  test.each(PLANTED)(`$name: found within ${SCHEDULES} schedules`, { timeout: PATIENCE_MS }, async (planted) => {
    for (let seed = 1; seed <= SCHEDULES; seed++) {
      const { violations } = await playSchedule(seed, { known: KNOWN_AT_BASE, planted });
      if (violations.length > 0) return;
    }
    expect.fail("It was not found.");
  });
});

function withoutNumbers(violation: string): string {
  return violation.replace(/[0-9][0-9.]*/g, "#");
}
