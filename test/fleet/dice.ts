// Chance that the seed alone decides.

export interface Dice {
  /** A number in [0, 1). */
  random(): number;
  /** A whole number from 0. */
  below(end: number): number;
  pick<T>(values: readonly T[]): T;
  /** `size` values: as many of each as its share says, the least at least, in random order. */
  deal<T>(size: number, shares: readonly (readonly [value: T, share: number, least: number])[], rest: T): T[];
}

export function createDice(seed: number): Dice {
  const random = seeded(seed);
  const below = (end: number): number => Math.floor(random() * end);
  return {
    random,
    below,
    pick: <T>(values: readonly T[]): T => values[below(values.length)] as T,
    deal<T>(size: number, shares: readonly (readonly [value: T, share: number, least: number])[], rest: T): T[] {
      const hand = shares.flatMap(([value, share, least]) =>
        Array<T>(Math.max(least, Math.round(share * size))).fill(value),
      );
      while (hand.length < size) hand.push(rest);
      for (let last = hand.length - 1; last > 0; last--) {
        const other = below(last + 1);
        [hand[last], hand[other]] = [hand[other] as T, hand[last] as T];
      }
      return hand.slice(0, size);
    },
  };
}

/** Numbers in [0, 1) that depend on the seed alone (mulberry32, public domain). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
