import { describe, expect, test } from "vitest";
import { createOutputChecker } from "../../../src/client/output.ts";

type Schema = Record<string, unknown>;

/** What is wrong with a value by a schema, and the warnings. */
async function judge(schema: Schema, ...values: unknown[]): Promise<{ problems: unknown[]; warnings: string[] }> {
  const warnings: string[] = [];
  const checker = createOutputChecker((warning) => warnings.push(warning));
  const problems: unknown[] = [];
  for (const value of values) problems.push(await checker.problemWith("t", schema, value));
  return { problems, warnings };
}

const pattern = (text: string): Schema => ({ type: "string", pattern: text });
const notFitting = (text: string): string => `structuredContent must match pattern "${text}"`;

async function timed<T>(run: () => Promise<T>): Promise<[T, number]> {
  const startedAt = performance.now();
  return [await run(), performance.now() - startedAt];
}

describe("dialects", () => {
  const exclusive = { type: "number", minimum: 5, exclusiveMinimum: true };
  test.each([
    ["https://json-schema.org/draft/2020-12/schema", { prefixItems: [{ type: "string" }] }, [1], "/0 must be string"],
    ["http://json-schema.org/draft/2020-12/schema", { prefixItems: [{ type: "string" }] }, [1], "/0 must be string"],
    ["https://json-schema.org/draft/2020-12/schema#", { prefixItems: [{ type: "string" }] }, [1], "/0 must be string"],
    ["https://json-schema.org/draft/2019-09/schema", { items: [{ type: "string" }] }, [1], "/0 must be string"],
    [
      "http://json-schema.org/draft/2019-09/schema#",
      { dependentRequired: { a: ["b"] } },
      { a: 1 },
      " must have property b when property a is present",
    ],
    [
      "http://json-schema.org/draft-07/schema#",
      { if: { type: "string" }, else: false },
      [1],
      "boolean schema is false",
    ],
    ["https://json-schema.org/draft-07/schema", { items: [{ type: "string" }] }, [1], "/0 must be string"],
    ["https://json-schema.org/draft-07/schema#", { items: [{ type: "string" }] }, [1], "/0 must be string"],
    ["http://json-schema.org/draft-06/schema#", { exclusiveMinimum: 5 }, 5, " must be > 5"],
    ["https://json-schema.org/draft-06/schema", { exclusiveMinimum: 5 }, 5, " must be > 5"],
    ["http://json-schema.org/draft-04/schema#", exclusive, 5, " must be > 5"],
    ["http://json-schema.org/draft-04/schema", exclusive, 5, " must be > 5"],
    ["https://json-schema.org/draft-04/schema#", exclusive, 5, " must be > 5"],
    ["https://json-schema.org/draft-04/schema", exclusive, 5, " must be > 5"],
  ])("case 60: %s", async ($schema, schema, value, problem) => {
    expect(await judge({ $schema, ...schema }, value)).toEqual({
      problems: [expect.stringContaining(problem.trim())],
      warnings: [],
    });
  });

  test.each(["https://json-schema.org/draft/next/schema", "http://json-schema.org/draft-03/schema#", "__proto__"])(
    "case 60: the unknown dialect %s is the schema's fault, said once",
    async ($schema) => {
      expect(await judge({ $schema, type: "string" }, 1, 2)).toEqual({
        problems: [undefined, undefined],
        warnings: [
          `The output schema of the tool "t" cannot be used, so its results are not checked: its dialect "${$schema}" is not known. Tell whoever runs the server.`,
        ],
      });
    },
  );
});

describe("patterns", () => {
  test.each([
    ["^[a-z]+$", "abc", "aB"],
    ["^a\\-b\\@c$", "a-b@c", "ab"],
    ["^[\\w\\-.]+\\/x$", "a-b./x", "a b/x"],
    ["^\\u00e9\\x41$", "éA", "eA"],
    ["^\\uD83D\\uDE00$", "😀", "😁"],
    ["^\\u{1F600}.$", "😀😀", "😀"],
    ["^.$", "😀", "\u2028"],
    ["^\\s\\S$", "\u00a0x", "\u00a0\ufeff"],
    ["^[\\S\\n]+$", "x\n", "x\u3000"],
    ["^[^\\s]+$", "x", "\u00a0"],
    ["^[^]$", "\n", ""],
    ["^[[:alpha:]x]$", ":x]", "b"],
    ["^\\p{L}\\p{Script=Greek}$", "éα", "éa"],
    ["^(?<year>\\d{4})-\\d\\d$", "2026-07", "26-07"],
    ["^\\cJ$", "\n", "J"],
    ["(?i)^abc$", "ABC", "abd"],
    ["^(?P<name>x)$", "x", "y"],
    ["a]$", "a]", "a"],
    ["^[.\\]]+$", ".]", "a"],
  ])("case 60: %s", async (text, fitting, other) => {
    expect(await judge(pattern(text), fitting, other)).toEqual({
      problems: [undefined, notFitting(text)],
      warnings: [],
    });
  });

  test.each([
    ["^(a+)+$", `${"a".repeat(32)}!`],
    ["^(a|a)*$", `${"a".repeat(50_000)}!`],
    ["^(.*a){20}$", "a".repeat(20_000).concat("!")],
    ["(x+x+)+y", "x".repeat(100_000)],
  ])("case 67: %s takes no longer than its text", async (text, value) => {
    const [{ problems }, ms] = await timed(() => judge(pattern(text), value));
    expect(problems).toEqual([notFitting(text)]);
    expect(ms).toBeLessThan(5_000);
  });

  test("case 67: the names of properties too", async () => {
    const schema = { patternProperties: { "^(a+)+$": { type: "string" } }, additionalProperties: false };
    const [{ problems }, ms] = await timed(() => judge(schema, { [`${"a".repeat(40)}!`]: 1 }, { aaa: 1 }));
    expect(problems).toEqual([
      "structuredContent must NOT have additional properties",
      "structuredContent/aaa must be string",
    ]);
    expect(ms).toBeLessThan(5_000);
  });

  test.each([
    ["a lookahead", "^(?=.*\\d).+$"],
    ["a lookbehind", "(?<!a)b"],
    ["a backreference", "^(a)\\1$"],
    ["a named one", "^(?<x>a)\\k<x>$"],
    ["one of two digits", "^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10$"],
    ["a count beyond the engine", "^a{1,5000}$"],
    ["nothing that is one", "(("],
    ["more than a pattern may be", "a".repeat(5_000)],
    ["more than it may become", "a{0,900}".repeat(120)],
  ])("case 67: %s is not checked, and said to be so once", async (_, text) => {
    const schema = { properties: { a: pattern(text), b: pattern(text) }, required: ["a"] };
    const { problems, warnings } = await judge(schema, { a: "x" }, { a: "y", b: "z" }, { b: "z" }, { a: 1 });
    expect(problems).toEqual([
      undefined,
      undefined,
      "structuredContent must have required property 'a'",
      "structuredContent/a must be string",
    ]);
    expect(warnings).toEqual([
      expect.stringContaining(`"t" has the pattern ${JSON.stringify(text.slice(0, 200))}, which is not checked: `),
    ]);
  });

  test("case 67: what is not checked is let through under not, too", async () => {
    const { problems } = await judge({ not: pattern("(?=a)") }, "a", "b");
    expect(problems).toEqual([undefined, undefined]);
  });
});

describe("schemas and values that cost", () => {
  const doubling = {
    $defs: Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `d${n}`,
        n === 39 ? {} : { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    ),
    $ref: "#/$defs/d0",
  };
  const rows = Array.from({ length: 40_000 }, (_, n) => ({ id: n }));
  const long = "x".repeat(1_000_000);

  test.each<[string, Schema, unknown]>([
    ["references that double", doubling, 1],
    ["a reference to itself", { $ref: "#" }, 1],
    [
      "many looks at many items",
      { items: { allOf: Array.from({ length: 300 }, () => ({ minimum: 0 })) } },
      Array(1_000_000).fill(1),
    ],
    ["a pattern of many steps on a long text", pattern("[ab]*a[ab]{900}$"), "ab".repeat(100_000)],
    [
      "many properties by pattern",
      { patternProperties: Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`a${n}`, {}])) },
      {},
    ],
    ["many small schemas", { anyOf: Array.from({ length: 10_000 }, () => ({})) }, 1],
    [
      "many references to one",
      {
        $defs: { a: { enum: ["x".repeat(100_000)] } },
        allOf: Array.from({ length: 3_000 }, () => ({ $ref: "#/$defs/a" })),
      },
      1,
    ],
    ["a long text looked at many times", { allOf: Array.from({ length: 500 }, (_, n) => ({ minLength: n })) }, long],
  ])("case 67: %s: given up within bounds, said once, and not tried again", async (_, schema, value) => {
    const [{ problems, warnings }, ms] = await timed(() => judge(schema, value));
    expect(problems).toEqual([undefined]);
    expect(warnings).toEqual([expect.stringContaining('"t" cannot be used, so its results are not checked: ')]);
    expect(ms).toBeLessThan(10_000);
    const [again, msAgain] = await timed(() => judge(schema, value, value, value));
    expect(again.warnings).toHaveLength(1);
    expect(msAgain).toBeLessThan(10_000);
  });

  test("case 67: distinct items are told from repeated ones in time that grows with them", async () => {
    const [{ problems }, ms] = await timed(() =>
      judge(
        { uniqueItems: true },
        rows,
        [...rows, { id: 7 }],
        [
          { a: 1, b: [2] },
          { b: [2], a: 1 },
        ],
        [1, "1"],
        [{}],
      ),
    );
    expect(problems).toEqual([
      undefined,
      "structuredContent must NOT have duplicate items",
      "structuredContent must NOT have duplicate items",
      undefined,
      undefined,
    ]);
    expect(ms).toBeLessThan(10_000);
    expect((await judge({ uniqueItems: false }, [1, 1])).problems).toEqual([undefined]);
  });

  test("an ordinary large result is judged to its end", async () => {
    const row = {
      type: "object",
      properties: {
        id: { type: "integer", minimum: 0 },
        name: { type: "string", pattern: "^[a-z0-9-]{1,64}$" },
        at: { type: "string", format: "date-time" },
      },
      required: ["id", "name"],
      additionalProperties: false,
    };
    const many = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row-${id}`, at: "2026-07-28T14:30:00Z" }));
    const { problems, warnings } = await judge({ items: row }, many, [...many, { id: -1, name: "x" }]);
    expect(problems).toEqual([undefined, "structuredContent/20000/id must be >= 0"]);
    expect(warnings).toEqual([]);
  });

  test.each([
    ["email", "x@y.example", "x"],
    ["uri", "https://x.example/", "x y"],
    ["date", "2026-07-28", "2026-02-30"],
    ["date-time", "2026-07-28T14:30:00Z", "yesterday"],
    ["uuid", "9f2c5a1e-0b3d-4c6e-8f7a-1b2c3d4e5f60", "9f2c"],
    ["ipv4", "127.0.0.1", "127.0.0"],
  ])("the format %s is checked", async (format, fitting, other) => {
    expect((await judge({ format }, fitting, other)).problems).toEqual([
      undefined,
      `structuredContent must match format "${format}"`,
    ]);
  });

  test("case 67: formats whose check is not linear, and unknown ones, are annotations", async () => {
    const url = `http://${"a:@".repeat(100_000)} `;
    const [{ problems, warnings }, ms] = await timed(() =>
      judge({ anyOf: [{ format: "url" }, { format: "sausage" }] }, url),
    );
    expect({ problems, warnings }).toEqual({ problems: [undefined], warnings: [] });
    expect(ms).toBeLessThan(5_000);
  });

  test("$async, which is no keyword of JSON Schema, does not make the verdict a promise", async () => {
    expect((await judge({ $async: true, type: "string" }, 1)).problems).toEqual(["structuredContent must be string"]);
  });
});
