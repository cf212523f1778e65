// Servers that do to a client what they should not: literal answers by node:http, and what our client makes of them.
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type Client, type ConnectOptions, connect } from "../../src/client.ts";
import { GITHUB_LOGIN_REQUEST } from "../fixtures/messages.ts";

/** What a scripted server was sent. */
interface Seen {
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any request
  readonly json: any;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const TOOLS = JSON.stringify({
  resultType: "complete",
  tools: ["a", "b", "other", "t"].map((name) => ({ name, inputSchema: { type: "object" } })),
  ttlMs: 60_000,
  cacheScope: "public",
});

/** A server that lists its tools, and gives the n-th request the n-th result, as JSON text; the last one from there on. */
async function script(
  results: readonly string[],
  options: ConnectOptions = {},
): Promise<{ client: Client; seen: Seen[] }> {
  const seen: Seen[] = [];
  const http = createHttpServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const json = JSON.parse(body);
      const isList = json.method === "tools/list";
      const result = isList ? TOOLS : results[Math.min(seen.push({ body, json }), results.length) - 1];
      res.setHeader("content-type", "application/json");
      res.end(`{"jsonrpc":"2.0","id":${JSON.stringify(json.id)},"result":${result}}`);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const client = await connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, options);
  closing.push(
    () => http.close(),
    () => client.close(),
  );
  return { client, seen };
}

const LOGIN = JSON.stringify({ github_login: GITHUB_LOGIN_REQUEST });
const DONE = '{"resultType":"complete","content":[{"type":"text","text":"done"}]}';
const form = () => ({ name: "octocat" });

describe("a state", () => {
  const states: readonly (readonly [string, string])[] = [
    ["with + / =", "a+b/c==?&%41 %2B"],
    ["with emoji", "🙂\u200d🔥 é\u0301 \u0000\u2028"],
    ["of 64 KiB", "x+/=".repeat(16_384)],
    ["that looks like JSON", '{"requestState":"other","__proto__":null}'],
    ["that is empty", ""],
  ];
  test.each(states)("case 24, C2: %s comes back as it was, character by character", async (_what, state) => {
    const { client, seen } = await script(
      [`{"resultType":"input_required","inputRequests":${LOGIN},"requestState":${JSON.stringify(state)}}`, DONE],
      { form },
    );
    await client.callTool("t", { a: 1 });
    expect(seen[1]?.json.params.requestState).toBe(state);
    expect(seen[1]?.json.params.inputResponses).toEqual({ github_login: { action: "accept", content: form() } });
  });

  test("case 24, C2, C3, C6: none is not invented, nor kept from a round before", async () => {
    const question = `{"resultType":"input_required","inputRequests":${LOGIN}`;
    const { client, seen } = await script([`${question},"requestState":"one"}`, `${question}}`, DONE], { form });
    await client.callTool("t", { a: 1 });
    expect(seen.map(({ json }) => json.params.requestState)).toEqual([undefined, "one", undefined]);
    expect(seen[2]?.body).not.toContain("requestState");
    expect(new Set(seen.map(({ json }) => json.id)).size).toBe(3);
    for (const { json } of seen) expect(json.params).toMatchObject({ name: "t", arguments: { a: 1 } });
  });

  test("case 22, C1: alone it is brought back at once, and no answers are made up", async () => {
    const { client, seen } = await script(['{"resultType":"input_required","requestState":"only"}', DONE], { form });
    await client.callTool("t");
    expect(seen[1]?.json.params.requestState).toBe("only");
    expect(seen[1]?.body).not.toMatch(/inputResponses|undefined|null/);
  });

  test("C4: it goes into its own retry, and into no other request", async () => {
    let others: Promise<unknown> = Promise.resolve();
    const { client, seen } = await script(
      [`{"resultType":"input_required","inputRequests":${LOGIN},"requestState":"one"}`, DONE],
      {
        async form() {
          others = Promise.all([client.callTool("other"), client.callTool("t")]);
          await others;
          return form();
        },
      },
    );
    await client.callTool("t");
    await others;
    const carried = seen.map(({ json }) => [json.params.name, json.params.requestState]);
    expect(carried).toEqual([
      ["t", undefined],
      ["other", undefined],
      ["t", undefined],
      ["t", "one"],
    ]);
  });
});

describe("questions", () => {
  const forbidden: readonly (readonly [string, object, ConnectOptions])[] = [
    ["a form, without anybody to ask", { q: GITHUB_LOGIN_REQUEST }, {}],
    ["a form, where only pages were declared", { q: GITHUB_LOGIN_REQUEST }, { url: () => "accept" }],
    ["roots, beside a form", { q: GITHUB_LOGIN_REQUEST, r: { method: "roots/list" } }, { form }],
    [
      "a page, where only forms were declared",
      { q: { method: "elicitation/create", params: { mode: "url", message: "m", url: "https://x.example" } } },
      { form },
    ],
  ];
  test.each(forbidden)("case 25, C10: %s: an error, and no answer is made up", async (_what, requests, handlers) => {
    let asked = 0;
    const counting = Object.fromEntries(
      Object.keys(handlers).map((kind) => {
        const count = (): never => {
          asked++;
          throw new Error("asked");
        };
        return [kind, count];
      }),
    );
    const { client, seen } = await script(
      [`{"resultType":"input_required","inputRequests":${JSON.stringify(requests)},"requestState":"s"}`, DONE],
      counting,
    );
    await expect(client.callTool("t")).rejects.toMatchObject({ code: "no_handler" });
    expect([seen.length, asked]).toEqual([1, 0]);
    const declared = seen[0]?.json.params._meta["io.modelcontextprotocol/clientCapabilities"];
    expect(Object.keys(declared.elicitation ?? {})).toEqual(Object.keys(handlers));
  });

  test("case 26: two calls that are asked the same key at the same time get their own answers", async () => {
    const { client, seen } = await script(
      [
        `{"resultType":"input_required","inputRequests":${LOGIN},"requestState":"s1"}`,
        `{"resultType":"input_required","inputRequests":${LOGIN},"requestState":"s2"}`,
        DONE,
      ],
      {
        async form({ call }) {
          await new Promise((resolve) => setTimeout(resolve, call.target === "a" ? 40 : 5));
          return { name: `for ${call.target}` };
        },
      },
    );
    await Promise.all([client.callTool("a"), client.callTool("b")]);
    const first = new Map(seen.slice(0, 2).map(({ json }, index) => [json.params.name, `s${index + 1}`]));
    for (const { json } of seen.slice(2)) {
      const { name, requestState, inputResponses } = json.params;
      expect([requestState, inputResponses.github_login.content.name]).toEqual([first.get(name), `for ${name}`]);
    }
    expect(seen).toHaveLength(4);
  });

  test("case 19, C5: only resultType decides: _meta and content beside a question change nothing", async () => {
    const { client, seen } = await script(
      [`{"_meta":{"x":1},"content":[],"isError":false,"resultType":"input_required","inputRequests":${LOGIN}}`, DONE],
      { form },
    );
    expect((await client.callTool("t")).content).toEqual([{ type: "text", text: "done" }]);
    expect(seen).toHaveLength(2);
  });

  const unreadable: readonly (readonly [string, string])[] = [
    ["an unknown type", `{"resultType":"later","content":[]}`],
    ["neither questions nor state", `{"resultType":"input_required"}`],
    ["an empty map of questions", `{"resultType":"input_required","inputRequests":{}}`],
    ["a question of another kind", `{"resultType":"input_required","inputRequests":{"q":{"method":"tools/call"}}}`],
    ["a state that is no text", `{"resultType":"input_required","requestState":{}}`],
    ["questions in a list", `{"resultType":"input_required","inputRequests":[${LOGIN}],"requestState":"s"}`],
    [
      "a depth of 10,000",
      `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}}}}}},"requestState":"s"}`,
    ],
  ];
  test.each(unreadable)("C5: %s is an error, and nobody is asked", async (_what, result) => {
    let asked = 0;
    const { client, seen } = await script([result], {
      form() {
        asked++;
        return form();
      },
    });
    await expect(client.callTool("t")).rejects.toMatchObject({ code: "message_invalid" });
    expect([seen.length, asked]).toEqual([1, 0]);
  });

  test("case 23: questions and fields called __proto__ and constructor are questions and fields", async () => {
    const properties = '{"__proto__":{"type":"string"},"constructor":{"type":"string"}}';
    const ask = `{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":${properties}}}}`;
    const { client, seen } = await script(
      [`{"resultType":"input_required","inputRequests":{"__proto__":${ask},"constructor":${ask}}}`, DONE],
      { form: ({ fields }) => Object.fromEntries(fields.map(({ name }) => [name, `my ${name}`])) },
    );
    await client.callTool("t");
    const answer = '{"action":"accept","content":{"__proto__":"my __proto__","constructor":"my constructor"}}';
    expect(seen[1]?.body).toContain(`"inputResponses":{"__proto__":${answer},"constructor":${answer}}`);
    expect(Object.prototype).not.toHaveProperty("action");
  });
});
