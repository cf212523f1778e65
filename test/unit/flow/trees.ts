// Random handlers: trees of context calls with microtasks, timers, turns and shared promises between them.
import type { Context } from "../../../src/flow/index.ts";

/** How long a step's or an effect's work takes: nothing, microtasks, turns of the event loop, or a batch's end. */
export type Work =
  | { readonly type: "now" }
  | { readonly type: "hops"; readonly count: number }
  | { readonly type: "turns"; readonly count: number }
  | { readonly type: "timer"; readonly ms: number }
  | { readonly type: "batch"; readonly number: number };

export type Tree =
  | { readonly type: "step" | "once" | "fails" | "flaky"; readonly work: Work }
  | { readonly type: "ask" }
  | { readonly type: "sleep"; readonly ms: number }
  /** A long sleep, which never stands alone. */
  | { readonly type: "limit"; readonly of: Tree; readonly named: boolean }
  | { readonly type: "seq" | "all" | "race" | "named"; readonly of: readonly Tree[] }
  | { readonly type: "catch"; readonly of: Tree; readonly otherwise: Tree }
  | { readonly type: "after"; readonly hops: number; readonly of: Tree }
  | { readonly type: "turnsBefore"; readonly count: number; readonly of: Tree };

/** A number generator that a seed determines: mulberry32. */
export function dice(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function randomWork(roll: (below: number) => number): Work {
  switch (roll(8)) {
    case 0:
    case 1:
      return { type: "now" };
    case 2:
    case 3:
      return { type: "hops", count: roll(4) };
    case 4:
      return { type: "turns", count: 1 + roll(3) };
    case 5:
      return { type: "timer", ms: roll(3) };
    default:
      return { type: "batch", number: roll(2) };
  }
}

export function randomTree(roll: (below: number) => number, depth = 3): Tree {
  const some = (): Tree[] => Array.from({ length: 2 + roll(2) }, () => randomTree(roll, depth - 1));
  if (depth === 0 || roll(4) === 0) {
    const leaf = roll(12);
    if (leaf < 4) return { type: "step", work: randomWork(roll) };
    if (leaf < 7) return { type: "ask" };
    if (leaf < 9) return { type: "once", work: randomWork(roll) };
    if (leaf === 9) return { type: "sleep", ms: roll(4) };
    return { type: leaf === 10 ? "fails" : "flaky", work: randomWork(roll) };
  }
  switch (roll(9)) {
    case 0:
    case 1:
      return { type: "seq", of: some() };
    case 2:
      return { type: "all", of: some() };
    case 3:
      return { type: "race", of: some() };
    case 4:
      return { type: "named", of: some() };
    case 5:
      return { type: "catch", of: randomTree(roll, depth - 1), otherwise: randomTree(roll, depth - 1) };
    case 6:
      return { type: "limit", of: { type: "ask" }, named: roll(2) === 0 };
    case 7:
      return { type: "after", hops: 1 + roll(6), of: randomTree(roll, depth - 1) };
    default:
      return { type: "turnsBefore", count: 1 + roll(2), of: randomTree(roll, depth - 1) };
  }
}

export const LIMIT_MS = 60_000;

/** What one run of a tree tells: each decision as it is taken. */
export interface Telling {
  decided(what: string): void;
  /** A race of the context is decided: what stands below its other sides is of no account any more. */
  withdrew(at: string, winner: number): void;
  /** An effect is carried out. */
  done(name: string): void;
  /** How often a flaky step has been tried in the flow. */
  tries(name: string): number;
}

const hop = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index++) await null;
};
const turns = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index++) await new Promise((resolve) => setImmediate(resolve));
};

/** Plays a tree as the body of a handler; names come from where its nodes stand. */
export function playTree(tree: Tree, ctx: Context, telling: Telling): Promise<string> {
  const batches = new Map<number, Promise<void>>();
  const batch = (number: number): Promise<void> => {
    const going = batches.get(number) ?? turns(1 + number);
    batches.set(number, going);
    return going;
  };
  const work = async (how: Work): Promise<void> => {
    if (how.type === "hops") await hop(how.count);
    if (how.type === "turns") await turns(how.count);
    if (how.type === "timer") await new Promise((resolve) => setTimeout(resolve, how.ms));
    if (how.type === "batch") await batch(how.number);
  };
  const play = async (node: Tree, at: string): Promise<string> => {
    switch (node.type) {
      case "step":
        return await ctx.step(at, () => (node.work.type === "now" ? at : work(node.work).then(() => at)));
      case "once":
        return await ctx.once(at, async () => {
          await work(node.work);
          telling.done(at);
          return at;
        });
      case "fails":
        return await ctx.step(at, () => work(node.work).then(() => Promise.reject(new Error(at))));
      case "flaky":
        return await ctx.step(at, () =>
          work(node.work).then(() => (telling.tries(at) === 1 ? Promise.reject(new Error(at)) : at)),
        );
      case "ask":
        return (await ctx.elicit(at, { message: at, schema: ANSWER })).value as string;
      case "sleep":
        await ctx.sleep(at, node.ms);
        return at;
      case "seq": {
        let said = "";
        for (const [index, each] of node.of.entries()) said += await play(each, `${at}.${index}`);
        return said;
      }
      case "all":
        return (await Promise.all(node.of.map((each, index) => play(each, `${at}.${index}`)))).join("");
      case "race": {
        const won = await Promise.race(
          node.of.map((each, index) => play(each, `${at}.${index}`).then((value) => ({ index, value }))),
        );
        return decide(at, won.index, won.value);
      }
      case "named": {
        const sides = node.of.map((each, index) => [index, () => play(each, `${at}.${index}`)] as const);
        const { winner, value } = await ctx.race(Object.fromEntries(sides) as Record<string, () => Promise<string>>);
        telling.withdrew(at, Number(winner));
        return decide(at, winner, value);
      }
      case "limit": {
        const sides = {
          answer: () => play(node.of, `${at}.0`),
          limit: () => ctx.sleep(`${at}.1`, LIMIT_MS).then(() => "late"),
        };
        const won = node.named
          ? await ctx.race(sides)
          : await Promise.race([
              sides.answer().then((value) => ({ winner: "answer", value })),
              sides.limit().then((value) => ({ winner: "limit", value })),
            ]);
        if (node.named) telling.withdrew(at, won.winner === "answer" ? 0 : 1);
        return decide(at, won.winner, won.value);
      }
      case "catch":
        try {
          return await play(node.of, `${at}.0`);
        } catch (error) {
          telling.decided(`${at} caught ${(error as Error).message}`);
          return await play(node.otherwise, `${at}.1`);
        }
      case "after": {
        const value = await play(node.of, `${at}.0`);
        await hop(node.hops);
        return value;
      }
      case "turnsBefore":
        await turns(node.count);
        return await play(node.of, `${at}.0`);
    }
  };
  const decide = (at: string, winner: number | string, value: string): string => {
    telling.decided(`${at} won by ${winner}`);
    return value;
  };
  return play(tree, "t");
}

const ANSWER = { type: "object", properties: { value: { type: "string" } }, required: ["value"] } as const;
