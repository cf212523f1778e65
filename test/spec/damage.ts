// Damage to the text of a message, as fast-check draws it.
import fc from "fast-check";

const HOSTILE = [
  "null",
  "true",
  "-0",
  "1e400",
  "1.5",
  '""',
  "[]",
  "{}",
  '"__proto__"',
  '"constructor"',
  '"\\ud800"',
  '{"__proto__":{"x":1}}',
  '"tools/call"',
  '"input_required"',
  '"accept"',
  '"v1.AAAAAAAA.AAAA"',
  `"${"x".repeat(65_536)}"`,
  "[".repeat(5_000),
  "}",
  '"',
  "\u0000",
  "é",
];
const TOKENS = /"(?:\\.|[^"\\])*"|[^\s"[\]{},:]+|[[\]{},:]/g;

/** One change to a text: at one of its tokens, or anywhere. */
export interface Change {
  readonly how: "replace" | "insert" | "remove" | "swap" | "cut" | "flip";
  readonly at: number;
  /** Which of the hostile values. */
  readonly by: number;
}

export const change: fc.Arbitrary<Change> = fc.record({
  how: fc.constantFrom<Change["how"][]>("replace", "replace", "replace", "insert", "remove", "swap", "cut", "flip"),
  at: fc.nat(),
  by: fc.nat(HOSTILE.length - 1),
});

export function damage(text: string, { how, at, by }: Change): string {
  const tokens = text.match(TOKENS) ?? [""];
  const index = at % tokens.length;
  const place = at % (text.length + 1);
  const put = (...given: string[]): string => tokens.toSpliced(index, 1, ...given).join("");
  switch (how) {
    case "replace":
      return put(HOSTILE[by] as string);
    case "insert":
      return put(tokens[index] as string, HOSTILE[by] as string);
    case "remove":
      return put();
    case "swap":
      return put(tokens[(index * 7) % tokens.length] as string);
    case "cut":
      return text.slice(0, place);
    case "flip":
      return text.slice(0, place) + String.fromCharCode(text.charCodeAt(place) ^ 1 || 120) + text.slice(place + 1);
  }
}
