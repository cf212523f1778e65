// The search of replay-fuzz.test.ts finds each fault of order that was mended, when it is planted again.
import { afterEach, expect, test, vi } from "vitest";
import { type Group, Journal } from "../../../src/flow/journal/journal.ts";
import { Arrivals } from "../../../src/flow/run/arrivals.ts";
import { Run } from "../../../src/flow/run/run.ts";
import { Fault, playInCuts, playInRounds } from "./tree-flows.ts";
import { dice, randomTree } from "./trees.ts";

const MOST_TREES = 2_000;
const AT_ONCE = 50;

afterEach(() => vi.restoreAllMocks());

/** Seals the journal without the entries of a type. */
function forget(type: string): void {
  const whole = Object.getOwnPropertyDescriptor(Journal.prototype, "groups")?.get as (this: Journal) => Group[];
  vi.spyOn(Journal.prototype, "groups", "get").mockImplementation(function (this: Journal) {
    return whole.call(this).map((group) => group.filter((entry) => entry[0] !== type));
  });
}

const PLANTED: Readonly<Record<string, () => void>> = {
  "attack 1: the end of a sleep is not remembered": () => forget("w"),
  "attack 9: what arrives is handed out at once": () => {
    const { add } = Arrivals.prototype;
    vi.spyOn(Arrivals.prototype, "add").mockImplementation(function (this: Arrivals, entry, call, hand) {
      const waiter = add.call(this, entry, call, () => undefined);
      void hand();
      return waiter;
    });
  },
  "attack 12: a sleep holds the round": () => {
    const { sleep } = Run.prototype;
    vi.spyOn(Run.prototype, "sleep").mockImplementation(function (this: Run, call, until, resolve) {
      let wake = (): void => undefined;
      const begin = (): Promise<void> =>
        new Promise((woken) => {
          wake = woken;
        });
      this.works.addNow({ ...call }, { begin, done: () => undefined, failed: () => undefined });
      sleep.call(this, call, until, () => {
        wake();
        resolve();
      });
    });
  },
  "attack 16: what the losers of a race have asked is asked again": () => {
    vi.spyOn(Run.prototype, "withdraw").mockImplementation(() => undefined);
  },
  "attack 18: a failure is not remembered": () => forget("f"),
};

test.each(Object.entries(PLANTED))("X1: found: %s", { timeout: 120_000 }, async (_name, plant) => {
  plant();
  const fault = await new Promise<unknown>((resolve) => {
    let found = false;
    const tell = (reason: unknown): void => {
      found = true;
      resolve(reason);
    };
    const search = async (): Promise<void> => {
      for (let seed = 1; seed <= MOST_TREES && !found; seed += AT_ONCE) {
        const seeds = Array.from({ length: AT_ONCE }, (_, index) => seed + index);
        const play = (each: number) => {
          const tree = randomTree(dice(each));
          return [playInRounds(tree, each), playInCuts(tree, each, 2)].map((played) => played.catch(tell));
        };
        await Promise.all(seeds.flatMap(play));
      }
      resolve(undefined);
    };
    void search();
  });
  expect(fault).toBeInstanceOf(Fault);
});
