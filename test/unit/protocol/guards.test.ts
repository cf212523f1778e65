import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as protocol from "../../../src/protocol/index.ts";
import {
  isRequest,
  isRequestId,
  META,
  PROTOCOL_VERSION,
  RpcError,
  readMessage,
  readRequestMeta,
  readResponse,
  readServerMessage,
  VolleyError,
} from "../../../src/protocol/index.ts";
import { GET_WEATHER } from "../../fixtures/messages.ts";

test("the revision", () => {
  expect(PROTOCOL_VERSION).toBe("2026-07-28");
  expect(META).toEqual({
    protocolVersion: "io.modelcontextprotocol/protocolVersion",
    clientInfo: "io.modelcontextprotocol/clientInfo",
    clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
    logLevel: "io.modelcontextprotocol/logLevel",
    serverInfo: "io.modelcontextprotocol/serverInfo",
    subscriptionId: "io.modelcontextprotocol/subscriptionId",
  });
});

describe("readMessage", () => {
  test("hands over what it was given", () => {
    const request = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const notification = { jsonrpc: "2.0", method: "notifications/cancelled" };
    expect(readMessage(request)).toBe(request);
    expect(readMessage(notification)).toBe(notification);
    expect(isRequest(readMessage(request))).toBe(true);
    expect(isRequest(readMessage(notification))).toBe(false);
    expect(readMessage({ jsonrpc: "2.0", id: 0, method: "" })).toEqual({ jsonrpc: "2.0", id: 0, method: "" });
  });

  const object = "A message is a JSON object";
  const version = 'A message has "jsonrpc": "2.0"';
  const method = 'A message has a "method", a string';
  const id = "An id is a string or an integer within 2^53; leave it out in notifications";
  const params = '"params" is an object where it is present';
  const batch = "Batches are not part of this protocol: send one message at a time";
  const response = "A server takes no responses: answers go into inputResponses of the retried request";
  test.each([
    ["null", object, undefined],
    ["1", object, undefined],
    ['"tools/list"', object, undefined],
    ["[]", batch, undefined],
    ['[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', batch, undefined],
    ["{}", version, undefined],
    ['{"jsonrpc":"1.0","id":1,"method":"tools/list"}', version, 1],
    ['{"jsonrpc":2,"id":"a","method":"tools/list"}', version, "a"],
    ['{"jsonrpc":"2.0","id":1}', method, 1],
    ['{"jsonrpc":"2.0","id":1,"method":null}', method, 1],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', response, 1],
    ['{"jsonrpc":"2.0","id":1,"error":{}}', response, 1],
    ['{"jsonrpc":"2.0","id":null,"method":"tools/list"}', id, undefined],
    ['{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', id, undefined],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}', id, undefined],
    ['{"jsonrpc":"2.0","id":1e400,"method":"tools/list"}', id, undefined],
    ['{"jsonrpc":"2.0","id":true,"method":"tools/list"}', id, undefined],
    ['{"jsonrpc":"2.0","id":{},"method":"tools/list"}', id, undefined],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}', params, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', params, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"a"}', params, 1],
  ])("H4 S24: %s is refused", (text, message, requestId) => {
    expect(() => readMessage(JSON.parse(text))).toThrow(expect.objectContaining({ code: -32600, message, requestId }));
  });
});

describe("readRequestMeta", () => {
  const minimal = { [META.protocolVersion]: "2026-07-28", [META.clientCapabilities]: {} };

  test("hands over what it was given, without a copy", () => {
    const meta = { ...minimal, [META.clientInfo]: { name: "c", version: "1" }, progressToken: 7, traceparent: "00-" };
    expect(readRequestMeta({ name: "a", _meta: meta })).toBe(meta);
  });

  test("H1: clientInfo is optional, any version string is read", () => {
    expect(readRequestMeta({ _meta: minimal })).toBe(minimal);
    expect(readRequestMeta({ _meta: { ...minimal, [META.protocolVersion]: "1999-01-01" } })).toBeDefined();
  });

  const required =
    'params._meta is required, with "io.modelcontextprotocol/protocolVersion" and "io.modelcontextprotocol/clientCapabilities"';
  const version = 'params._meta["io.modelcontextprotocol/protocolVersion"] is required, a string';
  const capabilities =
    'params._meta["io.modelcontextprotocol/clientCapabilities"] is required, an object of objects; {} declares none';
  const info = 'params._meta["io.modelcontextprotocol/clientInfo"] has at least a name and a version, strings';
  const level =
    'params._meta["io.modelcontextprotocol/logLevel"] is one of debug, info, notice, warning, error, critical, alert, emergency';
  const token = 'params._meta["progressToken"] is a string or an integer';
  test.each([
    [undefined, required],
    [null, required],
    [{}, required],
    [{ _meta: null }, required],
    [{ _meta: [] }, required],
    [{ _meta: {} }, version],
    [{ _meta: { [META.clientCapabilities]: {} } }, version],
    [{ _meta: { ...minimal, [META.protocolVersion]: 20260728 } }, version],
    [{ _meta: { [META.protocolVersion]: "2026-07-28" } }, capabilities],
    [{ _meta: { ...minimal, [META.clientCapabilities]: null } }, capabilities],
    [{ _meta: { ...minimal, [META.clientCapabilities]: [] } }, capabilities],
    [{ _meta: { ...minimal, [META.clientCapabilities]: { elicitation: true } } }, capabilities],
    [{ _meta: { ...minimal, [META.clientCapabilities]: { elicitation: { form: true } } } }, capabilities],
    [{ _meta: { ...minimal, [META.clientCapabilities]: { elicitation: { url: null } } } }, capabilities],
    [{ _meta: { ...minimal, [META.clientCapabilities]: { sampling: { tools: 1 } } } }, capabilities],
    [{ _meta: { ...minimal, [META.clientCapabilities]: { roots: [] } } }, capabilities],
    [{ _meta: { ...minimal, [META.clientCapabilities]: { extensions: { a: true } } } }, capabilities],
    [{ _meta: { ...minimal, [META.clientInfo]: null } }, info],
    [{ _meta: { ...minimal, [META.clientInfo]: { name: "c" } } }, info],
    [{ _meta: { ...minimal, [META.clientInfo]: { name: "c", version: 1 } } }, info],
    [{ _meta: { ...minimal, [META.clientInfo]: { name: "c", version: "1", icons: [{}] } } }, info],
    [{ _meta: { ...minimal, [META.logLevel]: "loud" } }, level],
    [{ _meta: { ...minimal, [META.logLevel]: 3 } }, level],
    [{ _meta: { ...minimal, progressToken: 1.5 } }, token],
    [{ _meta: { ...minimal, progressToken: null } }, token],
    [{ _meta: { ...minimal, progressToken: {} } }, token],
  ])("H1: %j is refused", (params, message) => {
    expect(() => readRequestMeta(params)).toThrow(expect.objectContaining({ code: -32602, message }));
  });

  test("case 23: capabilities under __proto__ or constructor are not declared", () => {
    const params = JSON.parse(`{"_meta":{"${META.protocolVersion}":"2026-07-28","${META.clientCapabilities}":
      {"__proto__":{"elicitation":{}},"constructor":{"roots":{}}}}}`);
    const declared = readRequestMeta(params)[META.clientCapabilities];
    expect(protocol.supportsForm(declared)).toBe(false);
    expect(protocol.supportsRoots(declared)).toBe(false);
  });
});

describe("readResponse and readServerMessage", () => {
  test("C5: an absent resultType is complete, others stay", () => {
    const old = { jsonrpc: "2.0", id: 1, result: { content: [] } };
    expect(readResponse(old)).toEqual({ jsonrpc: "2.0", id: 1, result: { resultType: "complete", content: [] } });
    const other = { jsonrpc: "2.0", id: 1, result: { resultType: "task", taskId: "t" } };
    expect(readResponse(structuredClone(other))).toEqual(other);
    expect(readResponse(structuredClone(GET_WEATHER.question))).toEqual(GET_WEATHER.question);
  });

  test("errors, with a null id read as none", () => {
    const error = { jsonrpc: "2.0", id: "a", error: { code: -32602, message: "no", data: { reason: "state" } } };
    expect(readResponse(error)).toBe(error);
    expect(readResponse({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "no" } })).toEqual({
      jsonrpc: "2.0",
      error: { code: -32700, message: "no" },
    });
  });

  test.each([
    [null, 'a message is one object with "jsonrpc": "2.0"'],
    [[], 'a message is one object with "jsonrpc": "2.0"'],
    [{ id: 1, result: {} }, 'a message is one object with "jsonrpc": "2.0"'],
    [{ jsonrpc: "2.0", id: 1 }, "a response has a result, an object, or an error"],
    [{ jsonrpc: "2.0", id: 1, result: [] }, "a response has a result, an object, or an error"],
    [{ jsonrpc: "2.0", result: {} }, "a result carries the id of its request"],
    [{ jsonrpc: "2.0", id: null, result: {} }, "a result carries the id of its request"],
    [{ jsonrpc: "2.0", id: 1, result: { resultType: 1 } }, "resultType is a string"],
    [{ jsonrpc: "2.0", id: 1, result: { _meta: [] } }, "_meta is an object"],
    [
      { jsonrpc: "2.0", id: 1, result: { _meta: { [META.serverInfo]: { name: "s" } } } },
      "serverInfo has at least a name and a version, strings",
    ],
    [{ jsonrpc: "2.0", id: 1, error: null }, "an error has an integer code and a message"],
    [{ jsonrpc: "2.0", id: 1, error: { code: 1.5, message: "a" } }, "an error has an integer code and a message"],
    [{ jsonrpc: "2.0", id: {}, error: { code: 1, message: "a" } }, "an id is a string or an integer"],
    [{ jsonrpc: "2.0", id: 1, method: "roots/list" }, "servers send no requests in this revision"],
    [{ jsonrpc: "2.0", method: 1 }, "a notification has a method, a string, and params that are an object"],
    [
      { jsonrpc: "2.0", method: "a", params: [] },
      "a notification has a method, a string, and params that are an object",
    ],
  ])("S24: %j is refused", (value, rule) => {
    const message = `The server's message breaks the protocol: ${rule}`;
    expect(() => readServerMessage(value)).toThrow(expect.objectContaining({ code: "message_invalid", message }));
  });

  test("notifications pass", () => {
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 2 } };
    expect(readServerMessage(progress)).toBe(progress);
  });
});

test("ids are strings and integers that a double holds", () => {
  expect([1, 0, -1, "a", "", 2 ** 53 - 1].every(isRequestId)).toBe(true);
  expect([1.5, 2 ** 53, Number.NaN, null, undefined, true, {}, []].some(isRequestId)).toBe(false);
});

test("no guard throws anything but its own errors, whatever JSON it reads", () => {
  const names = Object.keys(protocol).filter((name) => /^(is|read|clean)[A-Z]/.test(name));
  expect(names.length).toBeGreaterThan(40);
  const guards = names
    .filter((name) => !["isArrayOf", "isRecordOf", "isRequest"].includes(name))
    .map((name) => (protocol as unknown as Record<string, (value: unknown) => unknown>)[name]!);
  const key = fc.oneof(
    fc.string(),
    fc.constantFrom(
      ...["__proto__", "constructor", "jsonrpc", "id", "method", "params", "_meta", "result", "error", "content"],
      ...[
        "type",
        "role",
        "resultType",
        "inputRequests",
        "roots",
        "tools",
        "ref",
        "argument",
        "notifications",
        "action",
      ],
      ...Object.values(META),
    ),
  );
  const leaf = fc.oneof(
    fc.constantFrom(null, true, 0, 1.5, "2.0", "complete", "input_required", "text", "user", "accept", "roots/list"),
    fc.string(),
  );
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      leaf,
      fc.array(tie("json"), { maxLength: 4 }),
      fc.dictionary(key, tie("json"), { maxKeys: 6, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(json, (value) => {
      const text = JSON.stringify(value);
      for (const guard of guards) {
        try {
          guard(JSON.parse(text));
        } catch (error) {
          if (!RpcError.is(error) && !VolleyError.is(error)) throw error;
        }
      }
    }),
    { numRuns: 500 },
  );
});
