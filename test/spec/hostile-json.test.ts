// Hostile values in every place that reads what a peer sent. Bodies are texts: most of these no JSON.stringify would write.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { createServer } from "../../src/index.ts";
import { jsonSchema } from "../../src/json-schema.ts";
import { refusal } from "./vault.ts";
import { type Answer, headersFor, serve, type Wire } from "./wire.ts";

const LONG = "x".repeat(65_536);
const deep = (open: string, close: string): string => open.repeat(10_000) + close.repeat(10_000);

/** What JSON has, though few expect it: it is plain data. */
const odd: readonly (readonly [string, string])[] = [
  ["an object with __proto__", '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'],
  ["__proto__", '"__proto__"'],
  ["constructor", '"constructor"'],
  ["64 KB of text", `"${LONG}"`],
  ["a key of 64 KB", `{"${LONG}":1}`],
  ["a null character", '"a\\u0000b"'],
  ["an emoji", '"🙂"'],
  ["the largest double", "1.7976931348623157e308"],
  ["a long fraction", `0.${"1".repeat(1_000)}`],
  ["60 levels", `${"[".repeat(60)}1${"]".repeat(60)}`],
];
/** What no digest, store or language agrees on. */
const unsound: readonly (readonly [string, string])[] = [
  ["half an emoji", '"\\ud83d"'],
  ["the other half", '"a\\ude42b"'],
  ["a key of half an emoji", '{"\\ud83d":1}'],
  ["1e400", "1e400"],
  ["-1e400", "[[-1e400]]"],
  ["10,000 lists", deep("[", "]")],
  ["10,000 objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
];

let wire: Wire;
let ran = 0;
beforeAll(async () => {
  const server = createServer({ name: "hostile", version: "1.0.0", singleInstance: true, trace: () => {} });
  const input = jsonSchema({ type: "object" });
  const echo = (args: unknown): string => {
    ran++;
    return JSON.stringify(args);
  };
  server.tool("echo", { input }, echo);
  server.tool("constructor", { input }, echo);
  server.tool("__proto__", { input }, echo);
  server.tool("greet", { input }, async (_args, ctx) => {
    ran++;
    const { name } = await ctx.elicit("__proto__", { message: "Name?", schema: z.object({ name: z.string() }) });
    return name;
  });
  server.tool("by_hand", {}, (_args, ctx) => JSON.stringify(ctx.inputResponses ?? {}));
  server.tool("fields", {}, async (_args, ctx) => {
    const string = { type: "string" } as const;
    const schema = { type: "object", properties: { ["__proto__"]: string, constructor: string } } as const;
    return JSON.stringify(await ctx.elicit("constructor", { message: "?", schema }));
  });
  server.tool("progress", {}, (_args, ctx) => {
    ctx.progress(1);
    return JSON.stringify(ctx.client);
  });
  const region = { type: "string", "x-mcp-header": "Constructor" };
  server.tool("header", { input: jsonSchema({ type: "object", properties: { ["__proto__"]: region } }) }, echo);
  const complete = {
    to: (value: string, { arguments: settled }: { arguments: object }) => [value, JSON.stringify(settled)],
  };
  server.prompt("hello", { arguments: z.object({ to: z.string() }), complete }, ({ to }) => `Hello, ${to}.`);
  server.resourceTemplate("note", "note:///{name}", {}, ({ name }) => {
    ran++;
    return name;
  });
  wire = await serve(server);
});
afterAll(() => wire[Symbol.asyncDispose]());

const META = '"io.modelcontextprotocol/protocolVersion":"2026-07-28"';
const CAN = '"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}';

interface Parts {
  readonly id?: string;
  readonly method?: string;
  readonly meta?: string;
  readonly can?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Posts a request that is put together as text. */
function post(name: string, params: string, parts: Parts = {}): Promise<Answer> {
  const { id = "1", method = "tools/call", meta = "", can = CAN, headers } = parts;
  const key = method === "resources/read" ? "uri" : "name";
  const named = params.startsWith('"name"') || params.startsWith('"uri"') ? params : `"${key}":"${name}"${params}`;
  const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${named},"_meta":{${META},${can}${meta}}}}`;
  return wire.post(body, { ...headersFor(method, name), ...headers });
}
const error = (code: number): object => ({ jsonrpc: "2.0", id: 1, error: { code, message: expect.any(String) } });
const textOf = (answer: Answer): string => answer.json.result.content[0].text;

describe("arguments", () => {
  test.each(odd)("case 23: %s comes through as it is", async (_what, value) => {
    const text = `{"a":${value},"__proto__":${value},"constructor":${value}}`;
    for (const name of ["echo", "constructor", "__proto__"]) {
      expect(textOf(await post(name, `,"arguments":${text}`))).toBe(JSON.stringify(JSON.parse(text)));
    }
  });

  test.each(unsound)("S16: %s is -32602, and nothing ran", async (_what, value) => {
    const before = ran;
    for (const args of [`{"a":${value}}`, `{"__proto__":${value}}`, `{"a":[{"b":${value}}]}`]) {
      const answer = await post("echo", `,"arguments":${args}`);
      expect([answer.status, answer.json]).toEqual([200, error(-32602)]);
    }
    expect(ran).toBe(before);
  });
});

describe("names", () => {
  const names = ["toString", "hasOwnProperty", "__defineGetter__", "🙂", "a\u0000b", "x".repeat(8_000), " ", "é"];
  test.each(names)("case 23: the tool and the prompt %j are not there", async (name) => {
    const named = `"name":${JSON.stringify(name)}`;
    for (const method of ["tools/call", "prompts/get"]) {
      const answer = await post(name, named, { method });
      expect(answer.json).toEqual(error(-32602));
      expect(answer.text.length).toBeLessThan(400);
    }
  });

  test.each(unsound.slice(0, 2))("S16: %s in a name or URI cannot be in a header: -32020", async (_what, value) => {
    const tool = await post("x", `"name":${value}`);
    expect([tool.status, tool.json]).toEqual([400, error(-32020)]);
    const resource = await post("x", `"uri":${value}`, { method: "resources/read" });
    expect([resource.status, resource.json]).toEqual([400, error(-32020)]);
  });

  test("case 23: URIs of templates may hold anything, as text", async () => {
    for (const name of ["__proto__", "constructor", "🙂", "x".repeat(4_000)]) {
      const uri = `note:///${name}`;
      const answer = await post(uri, `"uri":${JSON.stringify(uri)}`, { method: "resources/read" });
      expect(answer.json.result.contents).toEqual([{ uri, text: name }]);
    }
    for (const uri of ["note:///%", "note:///%FF", "note:///a/b", `note:///${"x".repeat(9_000)}`]) {
      const answer = await post(uri, `"uri":${JSON.stringify(uri)}`, { method: "resources/read" });
      expect(answer.json.error).toEqual({ code: -32602, message: "Resource not found", data: { uri } });
    }
  });

  const methods = ["__proto__", "constructor", "tools/call ", "TOOLS/CALL", "", "initialize\\u0000"];
  test.each(methods)("case 23, H4: the method %j is none", async (method) => {
    const answer = await post("echo", "", {
      method,
      headers: { "mcp-method": JSON.parse(`"${method}"`).replace("\0", "") },
    });
    const isMirrored = !method.endsWith(" ") && !method.includes("u0000");
    expect([answer.status, answer.json.error.code]).toEqual(isMirrored ? [404, -32601] : [400, -32020]);
  });
});

describe("ids, tokens and metadata", () => {
  const ids = ['"__proto__"', '""', `"${LONG}"`, '"\\ud83d"', "0", "-1", "9007199254740991", "1.0"];
  test.each(ids)("H4: the id %.20s comes back", async (id) => {
    const answer = await post("echo", "", { id });
    expect([answer.json.id, textOf(answer)]).toEqual([JSON.parse(id), "{}"]);
  });

  const noIds = ["1e400", "1.5", "9007199254740993", "null", "true", "[]", "{}", deep("[", "]")];
  test.each(noIds)("H4: the id %.20s is none", async (id) => {
    const answer = await post("echo", "", { id });
    expect([answer.status, answer.json.error.code, "id" in answer.json]).toEqual([400, -32600, false]);
  });

  test.each([...odd, ...unsound])("H1: %s in _meta that nobody reads is ignored", async (_what, value) => {
    const meta = `,"com.example/x":${value},"__proto__":${value}`;
    const can = '"io.modelcontextprotocol/clientCapabilities":{"experimental":{"__proto__":{}},"constructor":1}';
    expect(textOf(await post("echo", "", { meta, can }))).toBe("{}");
  });

  const broken: readonly (readonly [string, string])[] = [
    ["a level", ',"io.modelcontextprotocol/logLevel":"__proto__"'],
    ["a level", ',"io.modelcontextprotocol/logLevel":1e400'],
    ["a token", ',"progressToken":1e400'],
    ["a token", `,"progressToken":${deep("[", "]")}`],
    ["a client", ',"io.modelcontextprotocol/clientInfo":{"__proto__":{"name":"x","version":"1"}}'],
    ["a client", `,"io.modelcontextprotocol/clientInfo":${deep("[", "]")}`],
  ];
  test.each(broken)("H1: %s that is none is -32602 and 400: %.60s", async (_what, meta) => {
    const answer = await post("echo", "", { meta });
    expect([answer.status, answer.json]).toEqual([400, error(-32602)]);
  });

  test("case 23: tokens come back as they were, and what a client says of itself is text", async () => {
    for (const token of ["__proto__", LONG, "\ud83d", ""]) {
      const info = '"io.modelcontextprotocol/clientInfo":{"name":"__proto__","version":"\\ud83d"}';
      const answer = await post("progress", "", { meta: `,"progressToken":${JSON.stringify(token)},${info}` });
      const [notification] = answer.text.split("\n").filter((line) => line.startsWith("data: "));
      expect(JSON.parse((notification as string).slice(6)).params.progressToken).toBe(token);
      expect(JSON.parse(textOf(answer)).info).toEqual({ name: "__proto__", version: "\ud83d" });
    }
  });
});

describe("answers and states", () => {
  const stateOf = async (tool: string): Promise<string> => (await post(tool, "")).json.result.requestState;
  const retry = (tool: string, state: string, answers: string): Promise<Answer> =>
    post(tool, `,"requestState":"${state}","inputResponses":${answers}`);

  test.each(odd)("case 23: %s beside what was asked for is ignored", async (_what, value) => {
    const content = `{"name":"Ada","__proto__x":${value},"constructor":${value}}`;
    const answers = `{"__proto__":{"action":"accept","content":${content},"x":${value}},"constructor":${value}}`;
    expect(textOf(await retry("greet", await stateOf("greet"), answers))).toBe("Ada");
  });

  test.each(unsound)("S16: %s in an answer is -32602, and nothing ran", async (_what, value) => {
    const state = await stateOf("greet");
    const before = ran;
    const answers = `{"__proto__":{"action":"accept","content":{"name":"Ada","x":${value}}}}`;
    expect((await retry("greet", state, answers)).json).toEqual(error(-32602));
    expect(ran).toBe(before);
  });

  test.each([...odd, ...unsound])("S15, S16: %s under a key nobody asked for is ignored", async (_what, value) => {
    const good = '"__proto__":{"action":"accept","content":{"name":"Ada"}}';
    const answers = `{"a":${value},${good},"constructor":${value},"\\ud83d":1}`;
    expect(textOf(await retry("greet", await stateOf("greet"), answers))).toBe("Ada");
  });

  test.each(unsound)("S16: %s does not reach a handler that reads answers itself", async (_what, value) => {
    const answers = `{"a":${value},"__proto__":{"action":"decline"},"\\ud83d":{}}`;
    expect(textOf(await post("by_hand", `,"inputResponses":${answers}`))).toBe('{"__proto__":{"action":"decline"}}');
  });

  test("case 23: form fields called __proto__ and constructor hold what was filled in", async () => {
    const first = await post("fields", "");
    const { properties } = first.json.result.inputRequests.constructor.params.requestedSchema;
    expect(Object.keys(properties)).toEqual(["__proto__", "constructor"]);
    const content = '{"__proto__":"a","constructor":"b"}';
    const answers = `{"constructor":{"action":"accept","content":${content}}}`;
    expect(textOf(await retry("fields", first.json.result.requestState, answers))).toBe(content);
    const none = '{"constructor":{"action":"accept","content":{}}}';
    expect(textOf(await retry("fields", first.json.result.requestState, none))).toBe("{}");
  });

  test.each([...odd, ...unsound])("case 24, S16: %s for a state is refused as any other", async (_what, value) => {
    const before = ran;
    expect((await post("greet", `,"requestState":${value}`)).text).toBe(refusal(1));
    expect(ran).toBe(before);
  });
});

describe("completion and lists", () => {
  const complete = (params: string): Promise<Answer> => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{${params},"_meta":{${META},${CAN}}}}`;
    return wire.post(body, headersFor("completion/complete"));
  };
  const HELLO = '"ref":{"type":"ref/prompt","name":"hello"}';

  test("case 23: arguments and settled values called __proto__ are data", async () => {
    const settled = '{"__proto__":"a","constructor":"b"}';
    const known = await complete(`${HELLO},"argument":{"name":"to","value":"v"},"context":{"arguments":${settled}}`);
    expect(known.json.result.completion.values).toEqual(["v", settled]);
    for (const name of ["__proto__", "constructor", "toString"]) {
      const unknown = await complete(`${HELLO},"argument":{"name":"${name}","value":""}`);
      expect(unknown.json.result.completion.values).toEqual([]);
      const nowhere = await complete(
        `"ref":{"type":"ref/prompt","name":"${name}"},"argument":{"name":"to","value":""}`,
      );
      expect(nowhere.json).toEqual(error(-32602));
    }
  });

  test.each(unsound)("S16: %s as a value is -32602", async (_what, value) => {
    expect((await complete(`${HELLO},"argument":{"name":"to","value":${value}}`)).json).toEqual(error(-32602));
  });

  test.each([...odd, ...unsound])("S16: %s as a cursor is -32602", async (_what, value) => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":${value},"_meta":{${META},${CAN}}}}`;
    expect((await wire.post(body, headersFor("tools/list"))).json).toEqual(error(-32602));
  });
});

describe("headers", () => {
  test("case 23: a parameter called __proto__ is mirrored like any other", async () => {
    const args = ',"arguments":{"__proto__":"eu"}';
    expect((await post("header", args)).json).toEqual(error(-32020));
    expect(textOf(await post("header", args, { headers: { "mcp-param-constructor": "eu" } }))).toBe(
      '{"__proto__":"eu"}',
    );
    expect((await post("header", "", { headers: { "mcp-param-constructor": "eu" } })).json).toEqual(error(-32020));
  });

  test("headers larger than allowed are refused before anything is read, and the server goes on", async () => {
    const before = ran;
    for (const name of ["mcp-name", "mcp-param-x", "x-any"]) {
      const answer = await post("echo", "", { headers: { [name]: LONG } }).catch((reason: Error) => reason);
      // Node ends the connection behind its answer, which may overtake it.
      expect(["431", "read ECONNRESET", "write EPIPE"]).toContain(
        "status" in answer ? `${answer.status}` : answer.message,
      );
    }
    expect(ran).toBe(before);
    expect(textOf(await post("echo", ""))).toBe("{}");
  });
});

test("case 23: nothing of all this has reached Object.prototype", () => {
  expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(12);
  expect(({} as { polluted?: boolean }).polluted).toBe(undefined);
});
