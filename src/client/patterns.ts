// The patterns of a schema that a server wrote, run in linear time whatever they look like.
import type { RegExpEngine, RegExpLike } from "ajv/dist/types/index.js";
import { costOf, isJavaScript, toRe2 } from "./re2-syntax.ts";

/** The patterns of one schema. */
export interface Patterns {
  /** Takes the place of RegExp in ajv. A pattern that cannot be run fits every text. */
  readonly regExp: RegExpEngine;
  /** What is wrong by a second judgement, in which no text fits the patterns that cannot be run: they may stand under `not`. */
  again(problem: string, judge: () => string | undefined): string | undefined;
}

/** Some two seconds of compiling at the most, for all patterns of a schema. */
const MAX_COST = 100_000;
const MAX_LENGTH = 4_096;

/**
 * Loads RE2 for one schema.
 *
 * @param spend is told what the trial of a text costs at the most
 * @param onUnchecked hears of a pattern that cannot be run, and why
 */
export async function loadPatterns(
  spend: (cost: number) => void,
  onUnchecked: (pattern: string, reason: string) => void,
): Promise<Patterns> {
  const { RE2JS } = await import("re2js");
  const known = new Map<string, RegExpLike>();
  let left = MAX_COST;
  let isSkipping = false;
  let skippedFit = true;

  function compile(pattern: string): (text: string) => boolean {
    const cost = pattern.length > MAX_LENGTH ? MAX_COST + 1 : costOf(pattern);
    if (cost > left) throw new RangeError("it is too large");
    left -= cost;
    // What JavaScript does not take may be right where the server comes from: (?i) and (?P<name>...) are RE2's own.
    const compiled = RE2JS.compile(isJavaScript(pattern) ? toRe2(pattern) : pattern);
    const size = compiled.programSize();
    return (text) => {
      spend(size * text.length);
      return compiled.test(text);
    };
  }

  function load(pattern: string): RegExpLike {
    let test: (text: string) => boolean;
    try {
      test = compile(pattern);
    } catch (error) {
      onUnchecked(pattern, (error as Error).message);
      isSkipping = true;
      test = () => skippedFit;
    }
    // ajv tells patterns apart by their text.
    return Object.assign({ test }, { toString: () => pattern });
  }

  function engine(pattern: string): RegExpLike {
    const made = known.get(pattern) ?? load(pattern);
    known.set(pattern, made);
    return made;
  }

  return {
    regExp: Object.assign(engine, { code: "re2" }),
    again(problem, judge) {
      if (!isSkipping) return problem;
      skippedFit = false;
      try {
        return judge() === undefined ? undefined : problem;
      } finally {
        skippedFit = true;
      }
    },
  };
}
