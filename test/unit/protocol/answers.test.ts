import { describe, expect, test } from "vitest";
import {
  checkSamplingMessages,
  cleanCreateMessageResult,
  cleanRoots,
  type SamplingMessage,
} from "../../../src/protocol/index.ts";

const junk = { extra: 1, __junk: {} };

describe("S26: what a model said is reduced to known fields", () => {
  test("text, with everything unknown dropped", () => {
    const answer = {
      ...junk,
      role: "assistant",
      model: "claude-3-sonnet-20240307",
      stopReason: "endTurn",
      content: {
        ...junk,
        type: "text",
        text: "Paris.",
        annotations: { ...junk, priority: 1 },
        _meta: { "com.example/a": 1 },
      },
    };
    expect(cleanCreateMessageResult(answer)).toEqual({
      role: "assistant",
      model: "claude-3-sonnet-20240307",
      stopReason: "endTurn",
      content: { type: "text", text: "Paris.", annotations: { priority: 1 }, _meta: { "com.example/a": 1 } },
    });
  });

  test("every kind of block, those within a tool result too", () => {
    const resource = { ...junk, uri: "file:///a", blob: "AA==" };
    const link = {
      ...junk,
      type: "resource_link",
      uri: "file:///a",
      name: "a",
      icons: [{ ...junk, src: "data:," }],
      size: 1,
    };
    const blocks = [
      { ...junk, type: "image", data: "AA==", mimeType: "image/png" },
      { ...junk, type: "audio", data: "AA==", mimeType: "audio/wav" },
      { ...junk, type: "tool_use", id: "u", name: "n", input: { anything: [1] } },
      {
        ...junk,
        type: "tool_result",
        toolUseId: "u",
        isError: false,
        structuredContent: { a: 1 },
        content: [link, { ...junk, type: "resource", resource }, { ...junk, type: "text", text: "t" }],
      },
    ];
    expect(cleanCreateMessageResult({ role: "assistant", model: "m", content: blocks })).toEqual({
      role: "assistant",
      model: "m",
      content: [
        { type: "image", data: "AA==", mimeType: "image/png" },
        { type: "audio", data: "AA==", mimeType: "audio/wav" },
        { type: "tool_use", id: "u", name: "n", input: { anything: [1] } },
        {
          type: "tool_result",
          toolUseId: "u",
          isError: false,
          structuredContent: { a: 1 },
          content: [
            { type: "resource_link", uri: "file:///a", name: "a", icons: [{ src: "data:," }], size: 1 },
            { type: "resource", resource: { uri: "file:///a", blob: "AA==" } },
            { type: "text", text: "t" },
          ],
        },
      ],
    });
  });

  test("case 23: __proto__ in an answer reaches nothing", () => {
    const answer = JSON.parse(
      '{"role":"assistant","model":"m","__proto__":{"a":1},"content":{"type":"text","text":"t","__proto__":{"a":1}}}',
    );
    const clean = cleanCreateMessageResult(answer) as unknown as Record<string, unknown>;
    expect(clean).toEqual({ role: "assistant", model: "m", content: { type: "text", text: "t" } });
    expect(clean.a).toBeUndefined();
    expect(Object.getPrototypeOf(clean)).toBe(Object.prototype);
  });

  test("256 blocks are the most, those within tool results counted", () => {
    const text = { type: "text", text: "t" };
    const answer = (content: unknown) => ({ role: "assistant", model: "m", content });
    expect(cleanCreateMessageResult(answer(Array(256).fill(text)))?.content).toHaveLength(256);
    expect(cleanCreateMessageResult(answer(Array(257).fill(text)))).toBeUndefined();
    const result = (count: number) => ({ type: "tool_result", toolUseId: "u", content: Array(count).fill(text) });
    expect(cleanCreateMessageResult(answer([result(127), result(127)]))).toBeDefined();
    expect(cleanCreateMessageResult(answer([result(127), result(128)]))).toBeUndefined();
  });

  test.each([
    undefined,
    null,
    {},
    { role: "assistant", content: { type: "text", text: "no model" } },
    { role: "system", model: "m", content: { type: "text", text: "t" } },
    { role: "assistant", model: "m", content: { type: "video" } },
    { role: "assistant", model: "m", content: [{ type: "text", text: 1 }] },
    { action: "accept" },
  ])("%j is unusable", (value) => {
    expect(cleanCreateMessageResult(value)).toBeUndefined();
  });
});

describe("S26: roots are file URIs", () => {
  test("are reduced to known fields", () => {
    const roots = [
      { ...junk, uri: "file:///home/user/projects/myproject", name: "My Project", _meta: {} },
      { uri: "file://server/share" },
      { uri: "FILE:///C:/work%20space" },
    ];
    expect(cleanRoots({ ...junk, roots })).toEqual([
      { uri: "file:///home/user/projects/myproject", name: "My Project", _meta: {} },
      { uri: "file://server/share" },
      { uri: "FILE:///C:/work%20space" },
    ]);
    expect(cleanRoots({ roots: [] })).toEqual([]);
  });

  test.each([
    "https://example.com/",
    "/home/user",
    "file:/home/user",
    "file:home",
    "file://a b/",
    "file:///a\n/b",
    "file:///a\u0000",
    "fi\nle:///a",
    " file:///a",
    "javascript:alert(1)//file:///",
    "",
  ])("one bad URI makes the answer unusable: %j", (uri) => {
    expect(cleanRoots({ roots: [{ uri: "file:///good" }, { uri }] })).toBeUndefined();
  });

  test.each([undefined, null, [], {}, { roots: null }, { roots: [null] }, { roots: [{ uri: 1 }] }])(
    "%j is unusable",
    (value) => {
      expect(cleanRoots(value)).toBeUndefined();
    },
  );

  test("256 are the most", () => {
    expect(cleanRoots({ roots: Array(256).fill({ uri: "file:///a" }) })).toHaveLength(256);
    expect(cleanRoots({ roots: Array(257).fill({ uri: "file:///a" }) })).toBeUndefined();
  });
});

describe("S26: a conversation with tools", () => {
  const text = { type: "text", text: "t" } as const;
  const use = (id: string) => ({ type: "tool_use", id, name: "n", input: {} }) as const;
  const result = (toolUseId: string) => ({ type: "tool_result", toolUseId, content: [] as [] }) as const;
  const user = (...content: SamplingMessage["content"][]): SamplingMessage => ({
    role: "user",
    content: content.flat(),
  });
  const assistant = (...content: SamplingMessage["content"][]): SamplingMessage => ({
    role: "assistant",
    content: content.flat(),
  });

  test.each<[string, SamplingMessage[]]>([
    ["nothing", []],
    ["text", [{ role: "user", content: text }]],
    ["one use", [user(text), assistant(use("a")), user(result("a")), assistant(text)]],
    ["text beside a use", [user(text), assistant(text, use("a")), user(result("a"))]],
    ["two uses, in any order", [assistant(use("a"), use("b")), user(result("b"), result("a"))]],
    ["an id again in a later turn", [assistant(use("a")), user(result("a")), assistant(use("a")), user(result("a"))]],
    [
      "a single block",
      [
        { role: "assistant", content: use("a") },
        { role: "user", content: result("a") },
      ],
    ],
  ])("passes: %s", (_, messages) => {
    expect(checkSamplingMessages(messages)).toBeUndefined();
  });

  test.each<[string, SamplingMessage[]]>([
    [
      "Sampling message 2 mixes tool results with other content: send them in a message of their own",
      [assistant(use("a")), user(text, result("a"))],
    ],
    [
      'Sampling message 2 leaves the tool use "b" without a result: answer each at once',
      [assistant(use("a"), use("b")), user(result("a"))],
    ],
    [
      'Sampling message 2 leaves the tool use "a" without a result: answer each at once',
      [assistant(use("a")), user(text)],
    ],
    [
      'Sampling message 2 leaves the tool use "a" without a result: answer each at once',
      [assistant(use("a")), assistant(text), user(result("a"))],
    ],
    ['The last sampling message leaves the tool use "a" without a result', [user(text), assistant(use("a"))]],
    [
      'Sampling message 2 answers "b", which is no open tool use of the message before',
      [assistant(use("a")), user(result("b"))],
    ],
    [
      'Sampling message 2 answers "a", which is no open tool use of the message before',
      [assistant(use("a")), user(result("a"), result("a"))],
    ],
    ['Sampling message 1 answers "a", which is no open tool use of the message before', [user(result("a"))]],
    ["Sampling message 1 is the user's and holds a tool use: only the assistant uses tools", [user(use("a"))]],
    [
      "Sampling message 2 is the assistant's and holds a tool result: tool results are the user's",
      [assistant(use("a")), assistant(result("a"))],
    ],
    [
      'Sampling message 1 uses the tool id "a" twice: give each use its own',
      [assistant(use("a"), use("a")), user(result("a"))],
    ],
  ])("is told: %s", (problem, messages) => {
    expect(checkSamplingMessages(messages)).toBe(problem);
  });
});
