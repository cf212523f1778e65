import { describe, expect, test } from "vitest";
import * as protocol from "../../../src/protocol/index.ts";
import { isElicitResult, isInputRequiredResult } from "../../../src/protocol/index.ts";
import { TWO_QUESTIONS } from "../../fixtures/messages.ts";

describe("questions and answers", () => {
  test.each([undefined, null, 0, "junk", { a: null }, ["a"]])(
    "S18 case 29: a decline with %j is a decline",
    (content) => {
      expect(isElicitResult({ action: "decline", content })).toBe(true);
      expect(isElicitResult({ action: "cancel", content })).toBe(true);
    },
  );

  test.each([
    [{ action: "accept" }, true],
    [{ action: "accept", content: { a: 1, unknown: { b: null } } }, true],
    [{ action: "accept", content: null }, false],
    [{ action: "accept", content: [] }, false],
    [{ action: "ACCEPT" }, false],
    [{ content: {} }, false],
    [null, false],
    [[], false],
  ])("an answer %j: %s", (value, usable) => {
    expect(isElicitResult(value)).toBe(usable);
  });

  test("S3 case 22: a question, a state or both, and an empty map counts as none", () => {
    const { inputRequests, requestState } = TWO_QUESTIONS.result;
    const resultType = "input_required";
    expect(isInputRequiredResult({ resultType, inputRequests, requestState })).toBe(true);
    expect(isInputRequiredResult({ resultType, inputRequests })).toBe(true);
    expect(isInputRequiredResult({ resultType, requestState })).toBe(true);
    expect(isInputRequiredResult({ resultType, requestState: "" })).toBe(true);
    expect(isInputRequiredResult({ resultType, inputRequests: {}, requestState })).toBe(true);
    expect(isInputRequiredResult({ resultType, inputRequests: {} })).toBe(false);
    expect(isInputRequiredResult({ resultType })).toBe(false);
    expect(isInputRequiredResult({ resultType, inputRequests: null, requestState })).toBe(false);
  });

  test("C5 case 19: only resultType decides, whatever _meta or content say", () => {
    const result = { ...TWO_QUESTIONS.result, content: [], _meta: { "com.example/a": 1 } };
    expect(isInputRequiredResult(result)).toBe(true);
    expect(protocol.isCallToolResult(result)).toBe(false);
    expect(protocol.isCallToolResult({ ...result, resultType: "complete" })).toBe(true);
    expect(isInputRequiredResult({ ...result, resultType: "complete" })).toBe(false);
  });

  test("S5: only the three questions are questions", () => {
    expect(protocol.isInputRequest({ method: "tools/call", params: { name: "a" } })).toBe(false);
    expect(protocol.isInputRequest({ method: "elicitation/create", params: { mode: "voice", message: "?" } })).toBe(
      false,
    );
  });

  test("case 23: __proto__ and constructor are keys like others", () => {
    const text =
      '{"resultType":"input_required","inputRequests":{"__proto__":{"method":"roots/list"},"constructor":VALUE}}';
    expect(isInputRequiredResult(JSON.parse(text.replace("VALUE", '{"method":"roots/list"}')))).toBe(true);
    expect(isInputRequiredResult(JSON.parse(text.replace("VALUE", "1")))).toBe(false);
    const params = JSON.parse('{"name":"__proto__","arguments":{"__proto__":"a","constructor":"b"}}');
    expect(protocol.readGetPromptParams(params)).toBe(params);
    expect(() => protocol.readGetPromptParams(JSON.parse('{"name":"a","arguments":{"__proto__":1}}'))).toThrow(
      "params.arguments is an object of strings where it is present",
    );
  });
});

describe("params of requests", () => {
  const { readCallToolParams, readResourceParams, readCompleteParams, readSubscriptionFilter, readCursor } = protocol;
  test.each([
    [readCallToolParams, {}, "params.name is required, a tool's name"],
    [readCallToolParams, { name: "a", arguments: null }, "params.arguments is an object where it is present"],
    [readCallToolParams, { name: "a", arguments: [] }, "params.arguments is an object where it is present"],
    [protocol.readGetPromptParams, { name: 1 }, "params.name is required, a prompt's name"],
    [readResourceParams, undefined, "params.uri is required, a resource's URI"],
    [
      readCompleteParams,
      { ref: { type: "ref/tool" } },
      "params.ref is required: a ref/prompt with a name, or a ref/resource with a uri",
    ],
    [
      readCompleteParams,
      { ref: { type: "ref/prompt", name: "a" }, argument: { name: "b" } },
      "params.argument is required, with a name and a value, strings",
    ],
    [
      readCompleteParams,
      { ref: { type: "ref/resource", uri: "a" }, argument: { name: "b", value: "" }, context: { arguments: { c: 1 } } },
      "params.context.arguments is an object of strings where it is present",
    ],
    [
      readSubscriptionFilter,
      { notifications: { resourceSubscriptions: "file:///a" } },
      "params.notifications is required: booleans, resourceSubscriptions as a list of URIs, taskIds as a list of ids",
    ],
    [readCursor, { cursor: 1 }, "params.cursor is a string that a list returned"],
  ])("H1: %o refuses %j", (read, params, message) => {
    expect(() => read(params)).toThrow(expect.objectContaining({ code: -32602, message }));
  });

  test("answers and state are handed on unread", () => {
    const params = { name: "a", inputResponses: 1, requestState: null };
    expect(readCallToolParams(params)).toBe(params);
    expect(readCursor({})).toBeUndefined();
    expect(readCursor({ cursor: "" })).toBe("");
    expect(readSubscriptionFilter({ notifications: {} })).toEqual({});
  });
});
