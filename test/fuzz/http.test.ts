import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import { createServer } from "../../src/index.ts";
import { headersFor, message } from "../spec/http-entry.ts";

const RUNS = 20_000;
const DECLARED = new Set([200, 202, 400, 403, 404, 405, 406, 415, 431]);
const META = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };

const server = createServer({
  name: "fuzzed",
  version: "1.0.0",
  singleInstance: true,
  limits: { anonymousCallsPerMinute: Number.POSITIVE_INFINITY },
});
server.tool("add", { input: z.object({ a: z.number(), b: z.number().optional() }) }, ({ a, b = 0 }) => `${a + b}`);
server.tool("ask", { input: z.object({ id: z.string().meta({ "x-mcp-header": "Id" }) }) }, async ({ id }, ctx) => {
  ctx.progress(1);
  const { name } = await ctx.elicit("name", { message: "Name?", schema: z.object({ name: z.string() }) });
  return `${id} ${name}`;
});
server.prompt("greet", { arguments: z.object({ who: z.string() }), complete: { who: () => ["a"] } }, ({ who }) => who);
server.resource("one", "file:///one", {}, () => "one");
server.resourceTemplate("item", "item://{id}/{part}", {}, ({ id }) => id);

const states: string[] = [];
const bases: readonly (() => object)[] = [
  () => message("server/discover"),
  () => message("tools/list"),
  () => message("prompts/list", { cursor: "a.1.b" }),
  () => message("resources/list"),
  () => message("resources/templates/list"),
  () => message("tools/call", { name: "add", arguments: { a: 1 } }),
  () => message("tools/call", { name: "ask", arguments: { id: "x" } }, { ...META, progressToken: 1 }),
  () =>
    message(
      "tools/call",
      {
        name: "ask",
        arguments: { id: "x" },
        requestState: states.at(-1) ?? "v1.a.b",
        inputResponses: { name: { action: "accept", content: { name: "y" } } },
      },
      META,
    ),
  () => message("prompts/get", { name: "greet", arguments: { who: "x" } }),
  () => message("resources/read", { uri: "item://1/a%20b" }),
  () =>
    message("completion/complete", {
      ref: { type: "ref/prompt", name: "greet" },
      argument: { name: "who", value: "" },
      context: { arguments: {} },
    }),
  () => ({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }),
];

const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    null,
    true,
    0,
    -0,
    1.5,
    1e308,
    2 ** 53,
    "",
    "__proto__",
    "constructor",
    "\ud800",
    "é",
    "=?base64?",
    [],
    {},
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.integer({ min: 65, max: 2_000 }).map((depth) => JSON.parse("[".repeat(depth) + "]".repeat(depth))),
  fc.constant("LONG"),
);
/** Stands for itself 65,536 times, so that a counterexample stays readable. */
const LONG = JSON.stringify("x".repeat(65_536));
const name = fc.constantFrom("__proto__", "constructor", "toString", "params", "id", "_meta", "name", "");

interface Mutation {
  readonly at: number;
  readonly how: "set" | "delete" | "add";
  readonly name: string;
  readonly value: unknown;
}
const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  how: fc.constantFrom("set", "delete", "add"),
  name,
  value: odd,
});

/** Every place of a message that can be changed: an object and one of its names. */
function places(value: unknown, found: [Record<string, unknown>, string][] = []): [Record<string, unknown>, string][] {
  if (typeof value !== "object" || value === null) return found;
  for (const [key, member] of Object.entries(value)) {
    found.push([value as Record<string, unknown>, key]);
    if (found.length < 100) places(member, found);
  }
  return found;
}

function mutate(body: object, mutations: readonly Mutation[]): object {
  for (const { at, how, name, value } of mutations) {
    const all = places(body);
    const [target, key] = all[at % all.length] ?? [body as Record<string, unknown>, name];
    if (how === "delete") delete target[key];
    else
      Object.defineProperty(target, how === "add" ? name : key, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    if (places(body).length === 0) break;
  }
  return body;
}

const header = fc.record({
  name: fc.constantFrom(
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-param-id",
    "content-type",
    "accept",
    "origin",
    "host",
    "x-any",
  ),
  value: fc.option(
    fc.oneof(
      fc.constantFrom("x", "=?base64?eA==?=", "=?base64?", "*/*", "null", "2026-07-28", "\u00e9"),
      fc.string({ unit: "grapheme-ascii" }),
    ),
    { nil: undefined },
  ),
});

const sent = fc.record({
  base: fc.nat(bases.length - 1),
  mutations: fc.array(mutation, { maxLength: 3 }),
  headers: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(header, { maxLength: 2 }) },
  ),
  cut: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(200) }),
  method: fc.oneof(
    { weight: 19, arbitrary: fc.constant("POST") },
    { weight: 1, arbitrary: fc.constantFrom("GET", "DELETE", "PUT") },
  ),
});

function build({
  base,
  mutations,
  headers,
  cut,
  method,
}: ReturnType<typeof sent.generate>["value"]): Request | undefined {
  const body = mutate((bases[base] as () => object)(), mutations);
  const text = JSON.stringify(body).replaceAll('"LONG"', LONG).slice(0, cut);
  try {
    const all = new Headers(headersFor(body));
    all.set("mcp-param-id", "x");
    for (const { name, value } of headers) value === undefined ? all.delete(name) : all.set(name, value);
    return new Request("http://localhost/mcp", { method, headers: all, ...(method === "GET" ? {} : { body: text }) });
  } catch {
    return undefined; // no HTTP client could send it
  }
}

// Faster than `expect`, and this is asked often.
function check(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise.slice(0, 500));
}

function idOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { id?: unknown })?.id;
  } catch {
    return undefined;
  }
}

test(`S16: ${RUNS} mutated requests: no undeclared status, no crash, no hang, each its own answer`, {
  timeout: 300_000,
}, async () => {
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(sent, async (value) => {
      const request = build(value);
      if (!request) return;
      const text = await request.clone().text();
      const response = await server.fetch(request);
      seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
      check(DECLARED.has(response.status), `status ${response.status}`);
      const answer = await response.text();
      if (response.status === 202) return check(answer === "", "a body with 202");
      const streamed = response.headers.get("content-type") === "text/event-stream";
      const json = JSON.parse(
        streamed
          ? (answer
              .match(/^data: (.*)$/gm)
              ?.at(-1)
              ?.slice(6) as string)
          : answer,
      );
      check(json.jsonrpc === "2.0" && "result" in json !== "error" in json, answer);
      if ("id" in json) check(json.id === idOf(text), `another request's id: ${answer}`);
      if (json.error) {
        check(Number.isInteger(json.error.code) && json.error.code !== -32603, answer);
        check(!/\.ts:|node_modules|at Object/.test(answer), `a stack: ${answer}`);
      }
      if (json.result?.requestState) states.push(json.result.requestState);
      check(!("polluted" in {}), "a polluted prototype");
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  // The fuzzer reaches what it is meant to reach.
  for (const status of DECLARED) if (status !== 431) expect(seen.get(status) ?? 0).toBeGreaterThan(0);
});
