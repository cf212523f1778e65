import fc from "fast-check";
import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import { toRe2 } from "../../../src/client/re2-syntax.ts";

const ATOMS = [
  ..."ab.^$|-@: ",
  ..."sSwWdDbBnt.-/[]".split("").map((letter) => `\\${letter}`),
  ...["[a-c]", "[^a]", "[\\s.]", "[^\\s]", "[\\S]", "[^\\S]", "[\\w-]", "[[]", "[\\]]", "[.]", "[:a]", "[^]", "[]"],
  ...["\\u0061", "\\u{61}", "\\x61", "\\cJ", "\\p{L}", "\\P{L}", "[\\p{L}]", "(?:a|b)", "(?<n>ab)"],
];
const QUANTIFIERS = ["", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"];
const CHARACTERS = [..."abcA1 -@.[]:\\/\n\r\t\u2028\u00a0\ufeffé😀"];

test("case 60: what RE2 is given says the same as JavaScript's own pattern", () => {
  const part = fc.tuple(fc.constantFrom(...ATOMS), fc.constantFrom(...QUANTIFIERS)).map((parts) => parts.join(""));
  const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
  const text = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 5 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(pattern, text, (source, given) => {
      let own: RegExp;
      try {
        own = new RegExp(source, "u");
      } catch {
        return;
      }
      expect(RE2JS.compile(toRe2(source)).test(given)).toBe(own.test(given));
    }),
    { numRuns: 3_000 },
  );
});
