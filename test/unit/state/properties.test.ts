import canonicalize from "canonicalize";
import fc from "fast-check";
import { expect, test } from "vitest";
import { associatedText } from "../../../src/state/associated-data.ts";
import { ANONYMOUS, type Binding, canonicalJson, type Principal } from "../../../src/state/index.ts";
import { AUDIENCE, BINDING, bind, MAX, NOW, refusal, TIMES } from "./fixtures.ts";

const runs = { numRuns: 300 };

/** Short texts of what might be taken for a boundary, so that shifted fields are likely. */
const tricky = fc.string({ unit: fc.constantFrom(...'0123456789:-.,|"\\\0aé😀'), maxLength: 6 });
const principal: fc.Arbitrary<Principal> = fc.oneof(
  fc.constant(ANONYMOUS),
  fc.record(
    { type: fc.constant("user" as const), issuer: tricky, subject: tricky, tenant: tricky },
    { requiredKeys: ["type", "issuer", "subject"] },
  ),
);
const json = fc.jsonValue({ maxDepth: 3 });
const binding: fc.Arbitrary<Binding> = fc.record({
  method: tricky,
  target: tricky,
  arguments: fc.option(json, { nil: undefined }),
  principal,
});
const audience = fc.option(tricky, { nil: undefined });

const same = (one: unknown, other: unknown): boolean => identity(one) === identity(other);
/** The fields as nested JSON: another unambiguous spelling than the one under test. */
function identity(value: unknown): string {
  const [url, bound] = value as [string | undefined, Binding];
  const who =
    bound.principal.type === "anonymous"
      ? []
      : [bound.principal.issuer, bound.principal.subject, bound.principal.tenant ?? null];
  return JSON.stringify([url ?? null, bound.method, bound.target, canonicalJson(bound.arguments), who]);
}

test("S7: whatever a state holds comes back as it was", () => {
  fc.assert(
    fc.property(json, binding, audience, (body, request, url) => {
      const bound = bind(request, url);
      expect(bind(request, url).open(bound.seal(body, TIMES, MAX), NOW, MAX)).toEqual({
        body: JSON.parse(JSON.stringify(body)),
        times: TIMES,
        kid: "OMCLDTGo",
      });
    }),
    runs,
  );
});

test("S7: any other text than the one that was sealed is refused", () => {
  const bound = bind();
  const edit = fc.tuple(fc.nat(), fc.nat(8), fc.string({ maxLength: 8, unit: "binary" }));
  const alphabetic = fc.tuple(
    fc.nat(),
    fc.nat(3),
    fc.string({ maxLength: 3, unit: fc.constantFrom(..."AQgwQB-_+/=.") }),
  );
  fc.assert(
    fc.property(json, fc.array(fc.oneof(edit, alphabetic), { minLength: 1, maxLength: 3 }), (body, edits) => {
      const token = bound.seal(body, TIMES, MAX);
      let altered = token;
      for (const [place, cut, text] of edits) {
        const at = place % (altered.length + 1);
        altered = altered.slice(0, at) + text + altered.slice(at + cut);
      }
      fc.pre(altered !== token);
      expect(refusal(() => bound.open(altered, NOW, MAX))).not.toBe("opened");
    }),
    { numRuns: 2_000 },
  );
});

test("S8: a state opens for its own principal, audience, method, target and arguments, and for no others", () => {
  const change = fc.record({ method: tricky, target: tricky, arguments: json, principal }, { requiredKeys: [] });
  fc.assert(
    fc.property(binding, audience, change, fc.option(audience, { nil: null }), (request, url, changes, otherUrl) => {
      const other = { ...request, ...changes };
      const url2 = otherUrl === null ? url : otherUrl;
      const token = bind(request, url).seal(1, TIMES, MAX);
      expect(refusal(() => bind(other, url2).open(token, NOW, MAX))).toBe(
        same([url, request], [url2, other]) ? "opened" : "authentication",
      );
    }),
    { numRuns: 1_000 },
  );
});

test("S8: no two bindings have the same associated data, wherever their fields begin and end", () => {
  const pair = fc.tuple(audience, binding);
  fc.assert(
    fc.property(pair, pair, (one, other) => {
      expect(associatedText(...one) === associatedText(...other)).toBe(same(one, other));
    }),
    { numRuns: 1_000 },
  );
});

test("S8: the same characters cut into fields at other places are another binding", () => {
  const text = fc.string({ unit: fc.constantFrom(..."0123456789:-a"), minLength: 1, maxLength: 24 });
  fc.assert(
    fc.property(text, fc.nat(), fc.nat(), fc.nat(), fc.nat(), (all, a, b, c, d) => {
      const cut = (first: number, second: number): Binding => {
        const [i = 0, j = 0] = [first % (all.length + 1), second % (all.length + 1)].sort((x, y) => x - y);
        const user = { type: "user", issuer: all.slice(0, i), subject: all.slice(i, j) } as const;
        return { ...BINDING, principal: user, method: all.slice(j) };
      };
      const [one, other] = [cut(a, b), cut(c, d)];
      expect(associatedText(AUDIENCE, one) === associatedText(AUDIENCE, other)).toBe(
        same([AUDIENCE, one], [AUDIENCE, other]),
      );
    }),
    { numRuns: 1_000 },
  );
});

test("S8: key order and the spelling of numbers and strings in the JSON text make no difference", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), json, { noNullPrototype: true }),
      fc.infiniteStream(fc.nat(5)),
      (args, choices) => {
        const text = respell(args, () => choices.next().value ?? 0);
        const token = bind({ arguments: JSON.parse(JSON.stringify(args)) }).seal(1, TIMES, MAX);
        expect(refusal(() => bind({ arguments: JSON.parse(text) }).open(token, NOW, MAX))).toBe("opened");
      },
    ),
    runs,
  );
});

test("S8: a state opens from two minutes before its issue until its expiry or the deadline, at no other time", () => {
  const offset = fc.integer({ min: -400_000, max: 400_000 });
  fc.assert(
    fc.property(offset, offset, offset, (issued, expiry, deadline) => {
      const bound = bind();
      const times = { issuedAt: NOW + issued, expiresAt: NOW + expiry, deadline: NOW + deadline };
      const opened = refusal(() => bound.open(bound.seal(1, times, MAX), NOW, MAX)) === "opened";
      expect(opened).toBe(issued <= 120_000 && expiry > 0 && deadline > 0);
    }),
    runs,
  );
});

/** Another JSON text of the same value: members in another order, numbers and characters in other spellings. */
function respell(value: unknown, choose: () => number): string {
  if (Array.isArray(value)) return `[${value.map((item) => respell(item, choose)).join(" ,")}]`;
  if (typeof value === "object" && value !== null) {
    // V8 13.6 takes an escaped key of one character for `\`, where the object parsed before had that one in its place.
    const keyOf = (key: string): string => (key.length === 1 ? JSON.stringify(key) : respell(key, choose));
    const members = Object.entries(value).map(([key, item]) => `${keyOf(key)}:${respell(item, choose)}`);
    return `{ ${(choose() % 2 ? members : members.reverse()).join(",")}\n}`;
  }
  if (typeof value === "number" && Number.isFinite(value)) {
    const [digits = "", exponent = "0"] = value.toExponential().split("e");
    const spellings = [
      String(value),
      `${digits}e${exponent}`,
      `${digits}${digits.includes(".") ? "" : "."}0E${exponent}`,
      `${digits}e${exponent.replace("+", "+00")}`,
    ];
    return spellings[choose() % spellings.length]!;
  }
  if (typeof value === "string" && choose() % 2) {
    return `"${Array.from({ length: value.length }, (_, i) => `\\u${value.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")}"`;
  }
  return JSON.stringify(value);
}

test("the one spelling of a JSON value is that of RFC 8785, in whatever order its keys came", () => {
  const keys = fc.constantFrom(
    "",
    "a",
    "b",
    "aa",
    "1",
    "2",
    "10",
    "é",
    "\u20ac",
    "\ud83d\ude00",
    "\ufb33",
    "__proto__",
    "constructor",
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), fc.constant(-0), tie("list"), tie("object")),
    list: fc.array(tie("value"), { maxLength: 3 }),
    object: fc.uniqueArray(fc.tuple(keys, tie("value")), { maxLength: 4, selector: ([key]) => key }).map(fromEntries),
  }));
  fc.assert(
    fc.property(value, (any) => {
      expect(canonicalJson(any)).toBe(canonicalize(any));
    }),
    { numRuns: 2_000 },
  );
});

/** As JSON.parse makes it: a key may be called `__proto__`. */
function fromEntries(entries: readonly (readonly [string, unknown])[]): unknown {
  return JSON.parse(`{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`);
}
