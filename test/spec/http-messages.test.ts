import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { createServer, type Server } from "../../src/index.ts";
import { type Entry, entries, message, type Sent } from "./http-entry.ts";

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

describe.each(entries)("over %s", (_name, open) => {
  let server: Server;
  let entry: Entry;
  const ran = vi.fn();

  beforeEach(async () => {
    ran.mockReset();
    server = createServer({ name: "test", version: "1.0.0", singleInstance: true, trace: () => undefined });
    server.tool("hello", {}, () => {
      ran();
      return "Hello.";
    });
    server.tool("näme", {}, () => "encoded");
    server.resource("accent", "file:///%C3%A9", {}, (uri) => uri);
    server.resourceTemplate("file", "note:///{name}", {}, ({ name }) => name);
    server.tool(
      "query",
      {
        input: z.object({
          region: z.string().optional().meta({ "x-mcp-header": "Region" }),
          limit: z.int().optional().meta({ "x-mcp-header": "Limit" }),
          dry: z.boolean().nullish(),
        }),
      },
      () => {
        ran();
        return "done";
      },
    );
    entry = await open(server);
  });

  afterEach(async () => {
    await entry.close();
    await server.close();
  });

  const call = (name = "hello", args?: unknown): object =>
    message("tools/call", args === undefined ? { name } : { name, arguments: args });
  const send = (sent: Sent) => entry.send(sent);

  test("S2: a call is answered with one JSON object", async () => {
    const answer = await send({ body: call() });
    expect(answer.status).toBe(200);
    expect(answer.header("content-type")).toBe("application/json");
    expect(answer.json).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        resultType: "complete",
        content: [{ type: "text", text: "Hello." }],
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.0.0" } },
      },
    });
  });

  const malformed: readonly (readonly [string, string | Uint8Array, number])[] = [
    ["no JSON", "{", -32700],
    ["nothing", "", -32700],
    ["no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), -32700],
    ["a batch", JSON.stringify([call()]), -32600],
    ["a response", '{"jsonrpc":"2.0","id":1,"result":{}}', -32600],
    ["a null id", '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600],
    ["a fractional id", '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', -32600],
    ["another JSON-RPC", '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32600],
    ["params that are no object", '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', -32600],
  ];
  test.each(malformed)("H4: %s is refused with 400", async (_what, body, code) => {
    const answer = await send({ body });
    expect(answer.status).toBe(400);
    expect(answer.json.error.code).toBe(code);
    expect(ran).not.toHaveBeenCalled();
  });

  test("H4: an unknown method is 404 and -32601", async () => {
    const answer = await send({ body: message("tools/unknown") });
    expect([answer.status, answer.json.error.code]).toEqual([404, -32601]);
  });

  test("H4: a notification is accepted with 202 and no body, and owes no headers", async () => {
    const answer = await send({
      body: { jsonrpc: "2.0", method: "notifications/whatever" },
      headers: { "mcp-method": undefined, "mcp-protocol-version": undefined },
    });
    expect([answer.status, answer.text, answer.header("content-type")]).toEqual([202, "", null]);
  });

  test.each([VERSION_KEY, CAPABILITIES])("H1: a request without %s is -32602 and 400", async (key) => {
    const answer = await send({ body: message("tools/call", { name: "hello" }, { [key]: undefined }) });
    expect([answer.status, answer.json.error.code]).toEqual([400, -32602]);
    expect(ran).not.toHaveBeenCalled();
  });

  test("H1: a request without _meta is -32602 and 400", async () => {
    const answer = await send({ body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
    expect([answer.status, answer.json.error.code]).toEqual([400, -32602]);
  });

  test("H2: an unknown version is -32022 and 400, naming what is spoken", async () => {
    const body = message("tools/list", {}, { [VERSION_KEY]: "1900-01-01" });
    const answer = await send({ body, headers: { "mcp-protocol-version": "1900-01-01" } });
    expect(answer.status).toBe(400);
    expect(answer.json.error.code).toBe(-32022);
    expect(answer.json.error.data).toEqual({ supported: ["2026-07-28"], requested: "1900-01-01" });
  });

  test("V1: initialize is refused with an error that names what we speak", async () => {
    const body = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };
    const answer = await send({ body, headers: { "mcp-protocol-version": undefined, "mcp-method": undefined } });
    expect(answer.status).toBe(400);
    expect(answer.json.error.message).toBe(
      'This server speaks MCP 2026-07-28, which has no "initialize". Use a client that speaks it too; to let older ' +
        "clients in, serve it with createLegacyServer of volley-mcp/bridge.",
    );
    expect(answer.json.error.data).toEqual({ supported: ["2026-07-28"], requested: "2025-11-25" });
  });

  test("V1: a later request of an older client is told our version too", async () => {
    const answer = await send({
      body: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
      headers: { "mcp-protocol-version": "2025-11-25" },
    });
    expect([answer.status, answer.json.error.code]).toEqual([400, -32022]);
  });

  test.each(["mcp-protocol-version", "mcp-method", "mcp-name"])(
    "case 13: without %s it is -32020 and 400, and nothing ran",
    async (name) => {
      const answer = await send({ body: call(), headers: { [name]: undefined } });
      expect([answer.status, answer.json.error.code, answer.json.id]).toEqual([400, -32020, 1]);
      expect(ran).not.toHaveBeenCalled();
    },
  );

  test.each([
    ["mcp-protocol-version", "2025-11-25"],
    ["mcp-method", "tools/list"],
    ["mcp-method", "TOOLS/CALL"],
    ["mcp-name", "goodbye"],
    ["mcp-name", "=?base64?Z29vZGJ5ZQ==?="],
  ])("H3: %s: %s does not match the body: -32020 and 400", async (name, value) => {
    const answer = await send({ body: call(), headers: { [name]: value } });
    expect([answer.status, answer.json.error.code]).toEqual([400, -32020]);
    expect(ran).not.toHaveBeenCalled();
  });

  test("case 10: an encoded Mcp-Name is decoded before it is compared", async () => {
    const tool = await send({ body: call("näme"), headers: { "mcp-name": "=?base64?bsOkbWU=?=" } });
    expect(tool.json.result.content[0].text).toBe("encoded");
    const uri = "note:///é";
    const resource = await send({
      body: message("resources/read", { uri }),
      headers: { "mcp-name": `=?base64?${Buffer.from(uri).toString("base64")}?=` },
    });
    expect(resource.json.result.contents).toEqual([{ uri, text: "é" }]);
  });

  test.each(["=?base64?bsOkbWU?=", "=?base64?!!!?=", "=?base64?/w==?=", "n\u00e4me"])(
    "case 12: a malformed header (%s) is -32020 and 400",
    async (value) => {
      const answer = await send({ body: call("näme"), headers: { "mcp-name": value } });
      expect([answer.status, answer.json.error.code]).toEqual([400, -32020]);
    },
  );

  test.each([
    [
      { region: "eu", limit: 42 },
      { "mcp-param-region": "eu", "mcp-param-limit": "42" },
    ],
    [
      { region: "eu", limit: 42 },
      { "mcp-param-region": "=?base64?ZXU=?=", "mcp-param-limit": "42.0" },
    ],
    [{ region: "eu" }, { "mcp-param-region": "eu" }],
    [{}, {}],
  ])("H3: annotated arguments %j pass with %j", async (args, headers) => {
    const answer = await send({ body: call("query", args), headers });
    expect(answer.json.result.content[0].text).toBe("done");
  });

  test.each([
    [{ region: "eu" }, {}],
    [{ region: "eu" }, { "mcp-param-region": "us" }],
    [{ limit: 42 }, { "mcp-param-limit": "43" }],
    [{}, { "mcp-param-region": "eu" }],
    [{ region: "eu" }, { "mcp-param-region": "=?base64?ZXU?=" }],
  ])("case 12: annotated arguments %j with headers %j are -32020 and 400", async (args, headers) => {
    const answer = await send({ body: call("query", args), headers });
    expect([answer.status, answer.json.error.code]).toEqual([400, -32020]);
    expect(ran).not.toHaveBeenCalled();
  });

  test("S25: arguments that fail the schema are a result with isError that says what is wrong", async () => {
    const answer = await send({ body: call("query", { limit: 1.5 }), headers: {} });
    expect(answer.status).toBe(200);
    expect(answer.json.result.isError).toBe(true);
    expect(answer.json.result.content[0].text).toMatch(/^The arguments of "query" are not valid:\n- limit: .*int/);
  });

  test.each(["no-such-tool", "__proto__", "constructor", "toString"])(
    "S25: the unknown tool %s is -32602",
    async (name) => {
      const answer = await send({ body: call(name) });
      expect([answer.status, answer.json.error.code]).toEqual([200, -32602]);
    },
  );

  test("S25: a resource that is not there is -32602 and names its URI", async () => {
    const answer = await send({ body: message("resources/read", { uri: "file:///none" }) });
    expect(answer.json.error).toEqual({
      code: -32602,
      message: "Resource not found",
      data: { uri: "file:///none" },
    });
  });

  test.each([
    ["tools/call", {}],
    ["tools/call", { name: 1 }],
    ["tools/call", { name: "hello", arguments: [] }],
    ["resources/read", { uri: {} }],
    ["tools/list", { cursor: 7 }],
    ["tools/list", { cursor: "AAAA" }],
    ["subscriptions/listen", {}],
    ["subscriptions/listen", { notifications: { toolsListChanged: "yes" } }],
  ])("S16: %s with params %j is -32602", async (method, params) => {
    const answer = await send({ body: message(method, params) });
    expect(answer.json.error.code).toBe(-32602);
  });

  test.each([
    ["a log level that is none", { "io.modelcontextprotocol/logLevel": "loud" }],
    ["a fractional progress token", { progressToken: 1.5 }],
    ["capabilities that are no object", { [CAPABILITIES]: true }],
  ])("S16: %s is -32602 and 400", async (_what, meta) => {
    const answer = await send({ body: message("tools/list", {}, meta) });
    expect([answer.status, answer.json.error.code]).toEqual([400, -32602]);
  });

  test.each([
    ["1e400", '{"a":1e400}'],
    ["a lone surrogate", '{"a":"\\ud800"}'],
    ["depth 10,000", `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
  ])("S16: arguments with %s are -32602", async (_what, args) => {
    const text = JSON.stringify(call("hello", "ARGS")).replace('"ARGS"', args);
    const answer = await send({
      body: text,
      headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "hello" },
    });
    expect(answer.json.error.code).toBe(-32602);
  });
});
