import { describe, expect, test } from "vitest";
import { type Client, connect } from "../../../src/client.ts";
import type { Result } from "../../../src/protocol/index.ts";
import { memory, serve } from "./fixtures.ts";

async function given(
  result: Record<string, unknown>,
  use: (client: Client) => Promise<unknown>,
): Promise<{ read: unknown; warnings: string[] }> {
  const warnings: string[] = [];
  const client = await connect(
    memory(({ method }) =>
      method === "tools/list" && result.tools === undefined
        ? { error: { code: -32601, message: "Method not found" } }
        : { resultType: "complete", ...result },
    ),
    { onWarning: (warning) => warnings.push(warning) },
  );
  await use(client);
  return { read: await use(client), warnings };
}

const block = { type: "text", text: "Hello." };
const call = (client: Client): Promise<Result> => client.callTool("hello");
const complete = (members: Record<string, unknown>): Record<string, unknown> => ({
  resultType: "complete",
  ...members,
});
const warning = (subject: string, what: string): string =>
  `The server answered ${subject} with what breaks a rule, and is used without it: ${what}.`;

describe("results a little off", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    [
      "a block of an unknown type",
      { content: [block, { type: "video", data: "" }] },
      { content: [block] },
      'content[1] is of the unknown type "video"',
    ],
    [
      "annotations: null",
      { content: [{ ...block, annotations: null }] },
      { content: [block] },
      "content[0].annotations is null",
    ],
    [
      "_meta: null of a block",
      { content: [{ ...block, _meta: null }] },
      { content: [block] },
      "content[0]._meta is null",
    ],
    [
      "null within annotations",
      { content: [{ ...block, annotations: { audience: ["user"], priority: null } }] },
      { content: [{ ...block, annotations: { audience: ["user"] } }] },
      "content[0].annotations.priority is null",
    ],
    [
      "annotations that break a rule",
      { content: [{ ...block, annotations: { priority: 5 } }, block] },
      { content: [block, block] },
      "content[0].annotations is not as it should be",
    ],
    [
      "null within a resource",
      { content: [{ type: "resource", resource: { uri: "a:b", text: "x", mimeType: null, _meta: null } }] },
      { content: [{ type: "resource", resource: { uri: "a:b", text: "x" } }] },
      "content[0].resource.mimeType is null; content[0].resource._meta is null",
    ],
    ["isError: null", { content: [block], isError: null }, { content: [block] }, "isError is null"],
    [
      "content: null beside structured content",
      { content: null, structuredContent: { a: null } },
      { structuredContent: { a: null }, content: [] },
      "content is null; content is missing",
    ],
    [
      "no content beside structured content",
      { structuredContent: null },
      { structuredContent: null, content: [] },
      "content is missing",
    ],
    [
      "a null in what is not the protocol's",
      { content: [{ ...block, _meta: { a: null }, annotations: null }], structuredContent: { b: null } },
      { content: [{ ...block, _meta: { a: null } }], structuredContent: { b: null } },
      "content[0].annotations is null",
    ],
    [
      "more than anybody reads",
      { content: Array(7).fill({ ...block, _meta: null }) },
      { content: Array(7).fill(block) },
      [0, 1, 2, 3, 4]
        .map((n) => `content[${n}]._meta is null`)
        .join("; ")
        .concat("; and 2 more"),
    ],
  ])("case 61: %s: the rest is handed out, and what is off is named once", async (_, result, read, off) => {
    const { warnings, ...given61 } = await given(result, call);
    expect(given61.read).toEqual(complete(read));
    expect(warnings).toEqual([warning('tools/call "hello"', off)]);
  });

  test("case 61: _meta: null of the result itself, over HTTP", async () => {
    await using server = await serve(({ method }) =>
      method === "tools/list" ? complete({ tools: [] }) : complete({ content: [block], _meta: null }),
    );
    const client = await connect(server.url);
    expect(await client.callTool("hello")).toEqual(complete({ content: [block] }));
    await client.close();
  });

  test.each<[string, Record<string, unknown>, string]>([
    [
      "an image without its type",
      { content: [block, { type: "image", data: "" }] },
      'content[1] ("image") is not as it should be',
    ],
    ["content that is no list", { content: "Hello." }, "content is no list"],
    ["neither content nor structure", {}, "content is no list"],
    ["no block at all", { content: [null] }, "content[0] is not as it should be"],
    ["isError that is no boolean", { content: [block], isError: "yes" }, "isError is not as it should be"],
  ])("case 61: %s is refused by name", async (_, result, fault) => {
    await expect(given(result, call)).rejects.toMatchObject({
      code: "message_invalid",
      message: `The server answered tools/call "hello" with a result that is none: ${fault}.`,
      cause: complete(result),
    });
  });

  test("case 61: prompts, resources and lists likewise", async () => {
    const message = { role: "user", content: block };
    const prompt = await given(
      { description: null, messages: [{ ...message, content: { ...block, annotations: null } }] },
      (client) => client.getPrompt("p"),
    );
    expect(prompt.read).toEqual(complete({ messages: [message] }));
    expect(prompt.warnings).toEqual([
      warning('prompts/get "p"', "description is null; messages[0].content.annotations is null"),
    ]);

    const resource = await given({ contents: [{ uri: "a:b", text: "x", mimeType: null }] }, (client) =>
      client.readResource("a:b"),
    );
    expect(resource.read).toEqual(complete({ contents: [{ uri: "a:b", text: "x" }] }));
    expect(resource.warnings).toEqual([warning('resources/read "a:b"', "contents[0].mimeType is null")]);

    const tool = { name: "t", inputSchema: { type: "object", properties: { a: { default: null } } } };
    const tools = await given(
      { tools: [{ ...tool, title: null, outputSchema: null, annotations: { readOnlyHint: null } }], nextCursor: null },
      (client) => client.listTools(),
    );
    expect(tools.read).toEqual([{ ...tool, annotations: {} }]);
    expect(tools.warnings).toHaveLength(1);

    await expect(
      given({ tools: [tool, { name: "bad", inputSchema: {} }] }, (client) => client.listTools()),
    ).rejects.toMatchObject({
      message: 'The server answered tools/list with a result that is none: tools[1] ("bad") is not as it should be.',
    });
  });

  test("case 23: __proto__ among the members", async () => {
    const result = JSON.parse('{"content":[{"type":"text","text":"x","__proto__":{"a":1},"_meta":null}]}');
    const { read } = await given(result, call);
    expect(JSON.stringify(read)).toBe(
      '{"resultType":"complete","content":[{"type":"text","text":"x","__proto__":{"a":1}}]}',
    );
  });

  test("nesting without end is refused, not walked", async () => {
    let deep: unknown = null;
    for (let n = 0; n < 3_000; n++) deep = [deep];
    const { read } = await given({ content: [{ ...block, x: deep, _meta: null }] }, call);
    expect((read as { content: unknown[] }).content).toHaveLength(1);
  });
});
