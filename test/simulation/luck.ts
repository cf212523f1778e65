// Chance by name: whether something happens depends on the seed and on what it is called, never on what was drawn before. So
// one fault can be taken out of a schedule, and the others stay what they are.

/** A fault, or a client's whim, that has come about. */
export interface Mishap {
  readonly id: string;
  readonly at: number;
}

export interface Wishes {
  /** Mishaps that do not come about, by id. */
  readonly without?: readonly string[];
  /** Everything that is awaited takes a millisecond. */
  readonly even?: boolean;
}

export class Luck {
  readonly seed: number;
  readonly mishaps: Mishap[] = [];
  /** Nothing goes wrong any more. */
  calm = false;
  readonly #without: ReadonlySet<string>;
  readonly #even: boolean;
  readonly #now: () => number;
  readonly #counts = new Map<string, number>();

  constructor(seed: number, now: () => number, { without = [], even = false }: Wishes = {}) {
    this.seed = seed;
    this.#now = now;
    this.#without = new Set(without);
    this.#even = even;
  }

  /** A number in [0, 1) that is this name's alone. */
  number(id: string): number {
    return hash(this.seed, id) / 2 ** 32;
  }

  below(id: string, end: number): number {
    return Math.floor(this.number(id) * end);
  }

  pick<T>(id: string, values: readonly T[]): T {
    return values[this.below(id, values.length)] as T;
  }

  /** Names the next of its kind: `S1/claim/3`. */
  next(kind: string): string {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return `${kind}/${count}`;
  }

  /** Whether a mishap comes about. */
  strikes(id: string, chance: number): boolean {
    return this.which(id, [["", chance]]) !== undefined;
  }

  /** At most one of these mishaps, each with its chance. */
  which<T extends string>(id: string, chances: readonly (readonly [kind: T, chance: number])[]): T | undefined {
    if (this.calm) return undefined;
    let left = this.number(id);
    for (const [kind, chance] of chances) {
      left -= chance;
      if (left >= 0) continue;
      const name = kind === "" ? id : `${id}:${kind}`;
      if (this.#without.has(name)) return undefined;
      this.mishaps.push({ id: name, at: this.#now() });
      return kind;
    }
    return undefined;
  }

  /** How long something takes, in milliseconds: mostly little, now and then seconds. */
  latency(id: string): number {
    if (this.#even) return 1;
    const drawn = hash(this.seed, `${id}~`) / 2 ** 32;
    if (drawn < 0.8) return 0.1 + drawn * 6;
    if (drawn < 0.97 || this.calm) return 5 + (drawn - 0.8) * 1_000;
    return 200 + (drawn - 0.97) * 90_000;
  }
}

/** MurmurHash3 (x86, 32 bits; public domain) over the UTF-16 units of a text. */
export function hash(seed: number, text: string): number {
  let h = seed | 0;
  for (let i = 0; i < text.length; i++) {
    let k = Math.imul(text.charCodeAt(i), 0xcc9e2d51);
    k = (k << 15) | (k >>> 17);
    h ^= Math.imul(k, 0x1b873593);
    h = (h << 13) | (h >>> 19);
    h = (Math.imul(h, 5) + 0xe6546b64) | 0;
  }
  h ^= text.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
