import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeHeaderValue,
  encodeHeaderValue,
  encodeParam,
  HEADERS,
  matchesParam,
  paramHeaders,
  paramValue,
} from "../../../src/protocol/index.ts";

describe("values", () => {
  test.each([
    ["us-west1", "us-west1"],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  ])("H3: the specification's example %j", (value, header) => {
    expect(encodeHeaderValue(value)).toBe(header);
    expect(decodeHeaderValue(header)).toBe(value);
  });

  test.each([
    ["file:///é", "=?base64?ZmlsZTovLy/DqQ==?="],
    ["task-ä", "=?base64?dGFzay3DpA==?="],
    ["\u{1f600}", "=?base64?8J+YgA==?="],
    ["\uFEFFmark", "=?base64?77u/bWFyaw==?="],
    ["a\tb", "=?base64?YQli?="],
    ["\u007f", "=?base64?fw==?="],
    ["", "=?base64??="],
    ["=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="],
  ])("case 10: %j is encoded and decoded", (value, header) => {
    expect(encodeHeaderValue(value)).toBe(header);
    expect(decodeHeaderValue(header)).toBe(value);
  });

  test.each(["us west 1", "a?b=c", "=?BASE64?YQ==?=", "=?base64?open", "?=", "~!@#$%^&*()"])(
    "%j goes as it is",
    (value) => {
      expect(encodeHeaderValue(value)).toBe(value);
      expect(decodeHeaderValue(value)).toBe(value);
    },
  );

  test.each([
    ["raw UTF-8", "file:///é"],
    ["raw UTF-8 as node:http hands it over", "file:///Ã©"],
    ["a control character", "a\u0001b"],
    ["a line break", "a\r\nb"],
    ["DEL", "a\u007f"],
    ["no padding", "=?base64?SGVsbG8?="],
    ["too much padding", "=?base64?SGVsbG8==?="],
    ["characters of another alphabet", "=?base64?SGV-bG8=?="],
    ["blanks", "=?base64?SGVs bG8=?="],
    ["stray bits", "=?base64?SGVsbG9=?="],
    ["bytes that are no UTF-8", "=?base64?/w==?="],
    ["an overlong form", "=?base64?wIA=?="],
    ["half a surrogate pair", "=?base64?7aCA?="],
    ["a prefix that is its own suffix", "=?base64?="],
  ])("case 12: malformed, %s", (_, header) => {
    expect(decodeHeaderValue(header)).toBeUndefined();
  });

  test("a tab inside is allowed by HTTP and read", () => {
    expect(decodeHeaderValue("a\tb")).toBe("a\tb");
  });

  test("half a surrogate pair is refused before it is sent", () => {
    expect(() => encodeHeaderValue("\ud800")).toThrow("half a surrogate pair");
    expect(() => encodeHeaderValue("\ud800")).toThrow(expect.objectContaining({ code: "json_unsupported" }));
  });

  test("any well-formed string comes back, through printable ASCII alone", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        const header = encodeHeaderValue(value);
        expect(header).toMatch(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/);
        expect(decodeHeaderValue(header)).toBe(value);
      }),
    );
  });

  test("no two headers of the encoded kind say the same", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (inner) => {
        const decoded = decodeHeaderValue(`=?base64?${inner}?=`);
        if (decoded !== undefined) {
          expect(btoa(String.fromCharCode(...new TextEncoder().encode(decoded)))).toBe(inner);
        }
      }),
    );
  });
});

describe("parameters", () => {
  test("are found through properties alone, in order", () => {
    const schema = {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        query: { type: "string" },
        options: {
          type: "object",
          properties: {
            limit: { type: "integer", "x-mcp-header": "Limit" },
            dry: { type: "boolean", "x-mcp-header": "dry_run" },
          },
        },
      },
    };
    expect(paramHeaders(schema)).toEqual([
      { header: "Mcp-Param-Region", key: "mcp-param-region", path: ["region"], type: "string" },
      { header: "Mcp-Param-Limit", key: "mcp-param-limit", path: ["options", "limit"], type: "integer" },
      { header: "Mcp-Param-dry_run", key: "mcp-param-dry_run", path: ["options", "dry"], type: "boolean" },
    ]);
  });

  test.each([undefined, null, true, {}, { type: "object" }, { properties: { a: true } }])("%j has none", (schema) => {
    expect(paramHeaders(schema)).toEqual([]);
  });

  test("case 23: names like __proto__ and x-mcp-header are names", () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string","x-mcp-header":"P"},"x-mcp-header":{"type":"string","x-mcp-header":"X"}}}',
    );
    expect(paramHeaders(schema).map(({ path }) => path)).toEqual([["__proto__"], ["x-mcp-header"]]);
    expect(paramValue(JSON.parse('{"__proto__":"a"}'), ["__proto__"])).toBe("a");
    expect(paramValue({}, ["__proto__"])).toBeUndefined();
    expect(paramValue({}, ["constructor", "name"])).toBeUndefined();
  });

  test("what is data in a schema is no annotation", () => {
    const data = { "x-mcp-header": "Region" };
    expect(paramHeaders({ properties: { a: { const: data, default: data, enum: [data], examples: [data] } } })).toEqual(
      [],
    );
  });

  const region = { type: "string", "x-mcp-header": "Region" };
  const place = "belongs on a property that is reached through properties alone";
  const type = 'belongs on a property of type "string", "integer" or "boolean"';
  const token = "is a header token, such as Region";
  test.each([
    ["the root", { ...region }, `at the input schema ${place}`],
    ["items", { properties: { list: { items: region } } }, `at "list.items" ${place}`],
    ["prefixItems", { properties: { list: { prefixItems: [region] } } }, `at "list.prefixItems" ${place}`],
    ["allOf", { allOf: [{ properties: { region } }] }, `at "allOf.region" ${place}`],
    ["anyOf", { properties: { a: { anyOf: [region] } } }, `at "a.anyOf" ${place}`],
    ["oneOf", { properties: { a: { oneOf: [region] } } }, `at "a.oneOf" ${place}`],
    ["additionalProperties", { additionalProperties: region }, `at "additionalProperties" ${place}`],
    ["patternProperties", { patternProperties: { "^a": region } }, `at "patternProperties.^a" ${place}`],
    ["$defs", { $defs: { region } }, `at "$defs.region" ${place}`],
    ["a $ref", { properties: { a: { $ref: "#/$defs/r", "x-mcp-header": "R" } } }, `at "a" ${type}`],
    ["a number", { properties: { a: { type: "number", "x-mcp-header": "A" } } }, `at "a" ${type}`],
    ["an object", { properties: { a: { type: "object", "x-mcp-header": "A" } } }, `at "a" ${type}`],
    ["an array", { properties: { a: { type: "array", "x-mcp-header": "A" } } }, `at "a" ${type}`],
    ["null", { properties: { a: { type: "null", "x-mcp-header": "A" } } }, `at "a" ${type}`],
    ["two types", { properties: { a: { type: ["string", "null"], "x-mcp-header": "A" } } }, `at "a" ${type}`],
    ["an empty name", { properties: { a: { type: "string", "x-mcp-header": "" } } }, `at "a" ${token}`],
    ["a space", { properties: { a: { type: "string", "x-mcp-header": "A B" } } }, `at "a" ${token}`],
    ["a colon", { properties: { a: { type: "string", "x-mcp-header": "A:B" } } }, `at "a" ${token}`],
    ["a line break", { properties: { a: { type: "string", "x-mcp-header": "A\r\n" } } }, `at "a" ${token}`],
    ["non-ASCII", { properties: { a: { type: "string", "x-mcp-header": "Région" } } }, `at "a" ${token}`],
    ["no string", { properties: { a: { type: "string", "x-mcp-header": 1 } } }, `at "a" ${token}`],
    [
      "a name twice",
      { properties: { a: region, b: { type: "string", "x-mcp-header": "rEGION" } } },
      'at "b" repeats the header Mcp-Param-rEGION: choose another name',
    ],
  ])("H3: an annotation on %s is refused", (_, schema, message) => {
    const error = expect.objectContaining({ code: "registration_invalid", message: `x-mcp-header ${message}` });
    expect(() => paramHeaders(schema)).toThrow(error);
  });

  test.each(["not", "if", "then", "else", "contains", "unevaluatedProperties"])("H3: and under %s", (keyword) => {
    const message = `x-mcp-header at "${keyword}.region" ${place}`;
    expect(() => paramHeaders({ [keyword]: { properties: { region } } })).toThrow(message);
  });

  test("a schema of depth 10,000 is refused, not walked", () => {
    let schema: unknown = {};
    for (let i = 0; i < 10_000; i++) schema = { not: schema };
    expect(() => paramHeaders(schema)).toThrow("nested deeper than 64 levels");
  });

  test.each([
    ["us-west1", "us-west1"],
    ["é", "=?base64?w6k=?="],
    [42, "42"],
    [-7, "-7"],
    [0, "0"],
    [true, "true"],
    [false, "false"],
    [null, undefined],
    [undefined, undefined],
    [1.5, undefined],
    [2 ** 53, undefined],
    [{}, undefined],
    [["a"], undefined],
  ])("%j is sent as %j", (value, header) => {
    expect(encodeParam(value)).toBe(header);
  });

  test.each([
    ["us-west1", "us-west1", "string", true],
    ["US-west1", "us-west1", "string", false],
    ["=?base64?w6k=?=", "é", "string", true],
    ["é", "é", "string", false],
    ["=?base64?w6k?=", "é", "string", false],
    ["", "", "string", true],
    ["=?base64??=", "", "string", true],
    [undefined, "", "string", false],
    ["42", 42, "integer", true],
    ["42.0", 42, "integer", true],
    ["=?base64?NDI=?=", 42, "integer", true],
    ["-7", -7, "integer", true],
    ["0", 0, "integer", true],
    ["43", 42, "integer", false],
    ["", 0, "integer", false],
    ["0x2a", 42, "integer", false],
    [" 42", 42, "integer", false],
    ["42abc", 42, "integer", false],
    ["Infinity", 42, "integer", false],
    ["9007199254740992", 2 ** 53, "integer", false],
    ["42.0", 42, "string", false],
    ["true", true, "boolean", true],
    ["false", false, "boolean", true],
    ["True", true, "boolean", false],
    ["1", true, "boolean", false],
    [undefined, undefined, "string", true],
    [null, null, "string", true],
    ["us-west1", undefined, "string", false],
    ["null", null, "string", false],
    [undefined, 42, "integer", false],
    [undefined, { a: 1 }, "string", true],
    [undefined, 1.5, "integer", true],
    [undefined, 1e21, "integer", false],
    [undefined, 1e21, "string", true],
  ] as const)("H3: header %j beside %j of type %s: %s", (header, value, declared, matches) => {
    expect(matchesParam(header, value, declared)).toBe(matches);
  });

  test("what a client encodes, a server matches", () => {
    const value = fc.oneof(fc.string({ unit: "binary" }), fc.maxSafeInteger(), fc.boolean());
    fc.assert(
      fc.property(value, (sent) => {
        const declared = typeof sent === "number" ? "integer" : (typeof sent as "string" | "boolean");
        expect(matchesParam(encodeParam(sent), sent, declared)).toBe(true);
      }),
    );
  });
});

test("names are lower-case, as node:http has them", () => {
  expect(HEADERS).toEqual({
    protocolVersion: "mcp-protocol-version",
    method: "mcp-method",
    name: "mcp-name",
    paramPrefix: "mcp-param-",
  });
});
