import { expect, test } from "vitest";
import { playInCuts, playInRounds } from "./tree-flows.ts";
import { dice, randomTree } from "./trees.ts";

/** `FUZZ_TREES=20000 npx vitest run test/unit/flow/replay-fuzz.test.ts` is the long run. */
const TREES = Number(process.env.FUZZ_TREES ?? 3_000);
const FIRST = Number(process.env.FUZZ_SEED ?? 1);
const AT_ONCE = 50;

/** The seeds whose trees are played wrongly, with what is wrong. */
async function search(play: (seed: number) => Promise<unknown>): Promise<string[]> {
  const found: string[] = [];
  for (let seed = FIRST; seed < FIRST + TREES; seed += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, FIRST + TREES - seed) }, (_, index) => seed + index);
    const tried = some.map((each) => play(each).catch((error: unknown) => found.push(`${each}: ${String(error)}`)));
    await Promise.all(tried);
  }
  return found;
}

const treeOf = (seed: number) => randomTree(dice(seed));

test(`X1: each round of ${TREES} random handlers goes the way of the rounds before`, {
  timeout: 3_600_000,
}, async () => {
  expect(await search((seed) => playInRounds(treeOf(seed), seed))).toEqual([]);
});

test(`X1, T7: ${TREES} random handlers go on the same way from whatever was saved of them`, {
  timeout: 3_600_000,
}, async () => {
  expect(await search((seed) => playInCuts(treeOf(seed), seed, 4))).toEqual([]);
});
