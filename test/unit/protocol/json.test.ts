import fc from "fast-check";
import { expect, test } from "vitest";
import { checkJson, hasUniqueItems } from "../../../src/protocol/index.ts";

function nested(depth: number, open: string, close: string): unknown {
  return JSON.parse(open.repeat(depth) + close.repeat(depth));
}

const invalid = (message: string) => expect.objectContaining({ code: -32602, message });
const DEEP = invalid("The params hold too many levels of nesting: flatten the value");

test("64 levels pass, 65 do not", () => {
  expect(() => checkJson(nested(64, "[", "]"))).not.toThrow();
  expect(() => checkJson(nested(65, "[", "]"))).toThrow(DEEP);
  expect(() => checkJson({ a: { b: 1 } }, 2)).not.toThrow();
  expect(() => checkJson({ a: { b: {} } }, 2)).toThrow(DEEP);
});

test("depth 10,000 and 1,000,000 are refused, not walked", () => {
  expect(() => checkJson(nested(10_000, "[", "]"))).toThrow(DEEP);
  let value: unknown = 1;
  for (let i = 0; i < 1_000_000; i++) value = { value };
  expect(() => checkJson(value)).toThrow(DEEP);
});

test("1e400, which JSON.parse reads as Infinity, is refused", () => {
  const message = "The params hold a number that no double holds: send it as a string";
  expect(() => checkJson(JSON.parse('{"a":[1e400]}'))).toThrow(invalid(message));
  expect(() => checkJson(JSON.parse("-1e400"))).toThrow(invalid(message));
  expect(() => checkJson(JSON.parse("1e308"))).not.toThrow();
});

test("lone surrogates are refused in values and in names", () => {
  expect(() => checkJson(JSON.parse('["\\ud800"]'))).toThrow(
    invalid("The params hold a string with half a surrogate pair: send well-formed Unicode"),
  );
  expect(() => checkJson(JSON.parse('{"\\udc00":1}'))).toThrow(
    invalid("The params hold a member name with half a surrogate pair: send well-formed Unicode"),
  );
  expect(() => checkJson(JSON.parse('{"\\ud83d\\ude00":"\\ud83d\\ude00"}'))).not.toThrow();
});

test("case 23: what lies under __proto__ is looked at", () => {
  expect(() => checkJson(JSON.parse('{"__proto__":[1e400]}'))).toThrow(invalid(expect.stringContaining("no double")));
});

test("a fault anywhere is found, and nothing else is a fault", () => {
  const fault = fc.constantFrom<unknown>(Number.POSITIVE_INFINITY, "\ud800", { "\udfff": 0 });
  const sound = fc.jsonValue({ maxDepth: 4, noUnicodeString: false });
  fc.assert(
    fc.property(sound, fault, fc.array(fc.boolean(), { maxLength: 20 }), (value, bad, path) => {
      const wrap = (inner: unknown) => path.reduce<unknown>((at, list) => (list ? [value, at] : { value, at }), inner);
      expect(() => checkJson(wrap(value))).not.toThrow();
      expect(() => checkJson(wrap(bad))).toThrow(expect.objectContaining({ code: -32602 }));
    }),
  );
});

test.each([
  ["[]", true],
  ['[1,"1",true,"true",null,"null",[],{}]', true],
  ["[0,-0]", false],
  ["[1,1.0]", false],
  ['[{"a":1,"b":[{"c":1,"d":2}]},{"b":[{"d":2,"c":1}],"a":1}]', false],
  ['[{"a":[1,2]},{"a":[2,1]}]', true],
  ['[{"__proto__":1},{"__proto__":2},{}]', true],
])("the items of %s are unique: %s", (text, unique) => {
  expect(hasUniqueItems(JSON.parse(text))).toBe(unique);
});
