// Rule 11: a setting that does not exist is an error, wherever the public API takes options.
import { afterAll, describe, expect, test } from "vitest";
import { createLegacyServer } from "../../../src/bridge.ts";
import { connect } from "../../../src/client.ts";
import { createRedisEventBus } from "../../../src/events/redis.ts";
import { createServer, type ServerOptions } from "../../../src/index.ts";
import { jsonSchema } from "../../../src/json-schema.ts";
import { createMemoryLedger } from "../../../src/ledger/memory.ts";
import { createPostgresLedger } from "../../../src/ledger/postgres.ts";
import { createRedisLedger } from "../../../src/ledger/redis.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite.ts";
import { createRateLimiter } from "../../../src/limits.ts";
import { createLoadMonitor, serveHttp } from "../../../src/node.ts";
import { createSealer } from "../../../src/state.ts";
import { serveStdio } from "../../../src/stdio.ts";
import { createBullPostgresEngine } from "../../../src/tasks/bullmq-postgres.ts";
import { createBullRedisEngine } from "../../../src/tasks/bullmq-redis.ts";
import { createSqliteEngine } from "../../../src/tasks/sqlite.ts";
import { createTasks, createWorker } from "../../../src/tasks.ts";
import { createTelemetry } from "../../../src/telemetry.ts";
import { checkDeterminism, createPair } from "../../../src/testing.ts";

const BASE = { name: "shop", version: "1.0.0", singleInstance: true };
const server = createServer(BASE);
server.tool("t", {}, () => "done");
const client = await createPair(server);
afterAll(() => client.close());

/** The message of what a call throws or rejects with, and its code. */
async function refusal(call: () => unknown): Promise<string> {
  try {
    await call();
    return "accepted";
  } catch (error) {
    const { code, message } = error as { readonly code: string; readonly message: string };
    return `${code}: ${message}`;
  }
}

// As plain JavaScript calls it: the compiler would have said no.
const wrong = (options: object): never => options as never;

describe("at run time", () => {
  const cases: readonly [string, string, (options: never) => unknown][] = [
    ["createServer", "nmae", (o: ServerOptions) => createServer(o)],
    ["createServer: limits", "inflight2", (limits: never) => createServer({ ...BASE, limits })],
    ["createServer: cache", "ttl2", (cache: never) => createServer({ ...BASE, cache })],
    ["createServer: cors", "maxAge2", (cors: never) => createServer({ ...BASE, cors })],
    ["connect", "legTimeoutMss", (o) => connect("http://localhost:1/mcp", o)],
    ["connect: sampling", "tool", (sampling: never) => connect("http://localhost:1/mcp", { sampling })],
    ["connect: the program", "arg", (program: object) => connect({ command: "x", ...program } as never)],
    ["createPair", "principle", (o) => createPair(server, o)],
    ["callTool", "timeout", (o) => client.callTool("t", {}, o)],
    ["getPrompt", "timeout", (o) => client.getPrompt("t", {}, o)],
    ["readResource", "timeout", (o) => client.readResource("x:y", o)],
    ["tools/list", "timeout", (o) => client.listTools(o)],
    ["resources/templates/list", "timeout", (o) => client.listResourceTemplates(o)],
    ["pages", "timeout", (o) => client.pages("tools/list", o)],
    ["complete", "timeout", (o) => client.complete({ type: "ref/prompt", name: "t" }, { name: "a", value: "" }, o)],
    ["discover", "timeout", (o) => client.discover(o)],
    ["start", "answer", (o) => client.start("tools/call", { name: "t" }, o)],
    ["subscribe", "reconect", (o) => client.subscribe({}, o)],
    ["request", "timeout", (o) => client.request("server/discover", {}, o)],
    ["task.get", "timeout", (o) => client.task("id").get(o)],
    ["task.answer", "timeout", (o) => client.task("id").answer({}, o)],
    ["task.cancel", "timeout", (o) => client.task("id").cancel(o)],
    ["task.result", "onRound", (o) => client.task("id").result(o)],
    ["createTasks", "engines", (o) => createTasks(o)],
    ["createWorker", "concurency", (o) => createWorker(server, o)],
    ["createSqliteEngine", "file", (o) => createSqliteEngine(o)],
    ["createBullRedisEngine", "url", (o) => createBullRedisEngine(o)],
    ["createBullPostgresEngine", "connectionString", (o) => createBullPostgresEngine(o)],
    ["createMemoryLedger", "clock", (o) => createMemoryLedger(o)],
    ["createSqliteLedger", "file", (o) => createSqliteLedger(o)],
    ["createRedisLedger", "uri", (o) => createRedisLedger(o)],
    ["createPostgresLedger", "url", (o) => createPostgresLedger(o)],
    ["createRateLimiter", "uri", (o) => createRateLimiter(o)],
    ["createRedisEventBus", "channels", (o) => createRedisEventBus(o)],
    ["createTelemetry", "trace", (o) => createTelemetry(o)],
    ["createLegacyServer", "principle", (o) => createLegacyServer(server, o)],
    ["serveHttp", "prot", (o) => serveHttp(server, o)],
    ["serveStdio", "stdin", (o) => serveStdio(server, o)],
    ["createLoadMonitor", "delayMs", (o) => createLoadMonitor(o)],
    ["checkDeterminism", "answers", (o) => checkDeterminism(server, o)],
    ["createSealer", "keys", (o) => createSealer(o)],
  ];

  test.each(cases)("%s refuses an option that does not exist", async (owner, name, call) => {
    expect(await refusal(() => call(wrong({ [name]: 1 })))).toMatch(
      new RegExp(`^invalid_options: ${owner} has no option "${name}"\\. (Did you mean "|It has: )`),
    );
  });

  test("the JSON Schema that is wrapped", async () => {
    expect(await refusal(() => jsonSchema({ type: "object" }, wrong({ maxdepth: 1 })))).toBe(
      'registration_invalid: jsonSchema has no option "maxdepth". Did you mean "maxDepth"?',
    );
  });

  test("a pending round", async () => {
    const asking = createServer(BASE);
    asking.tool("ask", {}, async (_, ctx) => ((await ctx.confirm("sure", "Sure?")) ? "yes" : "no"));
    const pair = await createPair(asking, { form: () => "cancel" });
    const round = await pair.start("tools/call", { name: "ask" });
    if (round.done) throw new Error("asked nothing");
    round.answer("sure", { confirm: true });
    expect(await refusal(() => round.continue(wrong({ timeout: 1 })))).toBe(
      'invalid_options: continue has no option "timeout". Did you mean "timeoutMs"?',
    );
    await pair.close();
  });

  test("what was misspelt is said, with the nearest name", async () => {
    expect(await refusal(() => createServer(wrong({ ...BASE, auth: () => undefined })))).toBe(
      'invalid_options: createServer has no option "auth". Did you mean "authenticate"?',
    );
    expect(await refusal(() => createServer(wrong({ ...BASE, secret: "x" })))).toMatch(
      /^invalid_options: createServer has no option "secret"\. It has: name, version, .*, keys, audience, /,
    );
  });
});

describe("registration", () => {
  const handler = (): never => undefined as never;
  const cases: readonly [string, string, string, (options: never) => unknown][] = [
    ['tool "x"', "singelUse", "singleUse", (o) => server.tool("x", o, handler)],
    ['tool "x"', "timeout", "", (o) => server.tool("x", o, handler)],
    ['tool "x"', "inputSchema", "input", (o) => server.tool("x", o, handler)],
    ['prompt "x"', "argument", "arguments", (o) => server.prompt("x", o, () => "")],
    ['resource "x"', "mimetype", "mimeType", (o) => server.resource("x", "x:y", o, handler)],
    ['resource template "x"', "lists", "list", (o) => server.resourceTemplate("x", "x:{y}", o, handler)],
    ['resource "x": cache', "ttl", "ttlMs", (cache: never) => server.resource("x", "x:y", { cache }, handler)],
  ];

  test.each(cases)("%s refuses %s", async (owner, name, meant, call) => {
    const said = await refusal(() => call(wrong({ [name]: 1 })));
    const start = `registration_invalid: ${owner} has no option "${name}". `;
    expect(said.slice(0, start.length)).toBe(start);
    expect(said.slice(start.length)).toMatch(meant === "" ? /^It has: / : `Did you mean "${meant}"?`);
  });

  test("what is the specification's own stays open", () => {
    const open = createServer(BASE);
    open.tool("t", { annotations: wrong({ readOnlyHint: true, vendorHint: 1 }), _meta: { any: 1 } }, () => "");
  });

  test("options or a handler that were left out are named", async () => {
    expect(await refusal(() => server.tool("x", wrong(handler), wrong({})))).toBe(
      'registration_invalid: tool "x" takes its options as an object, not a function.',
    );
    expect(await refusal(() => (server.tool as (...args: unknown[]) => unknown)("x", {}))).toBe(
      'registration_invalid: tool "x" needs a function as its handler, after the options.',
    );
  });
});

describe("what is needed is named", () => {
  const cases: readonly [string, () => unknown][] = [
    ["createServer takes its options as an object, not undefined.", () => createServer(undefined as never)],
    ["createServer needs a `name` and a `version`.", () => createServer(wrong({}))],
    ["createTasks needs `engine`.", () => createTasks(wrong({}))],
    ["createWorker needs `engine`.", () => createWorker(server, wrong({}))],
    ["createSqliteEngine needs `path`.", () => createSqliteEngine(wrong({}))],
    ["createBullRedisEngine needs `connection`.", () => createBullRedisEngine(wrong({}))],
    ["createBullPostgresEngine needs `connection`.", () => createBullPostgresEngine(wrong({}))],
    ["createSqliteLedger needs `path`.", () => createSqliteLedger(wrong({}))],
    ["createRedisLedger needs `client` or `url`.", () => createRedisLedger(wrong({}))],
    ["createPostgresLedger needs `pool` or `connectionString`.", () => createPostgresLedger(wrong({}))],
    ["createRateLimiter needs `client` or `url` or `pool` or `connectionString`.", () => createRateLimiter(wrong({}))],
    ["createRedisEventBus needs `client` or `url`.", () => createRedisEventBus(wrong({}))],
    ["createSealer needs `keyring`.", () => createSealer(wrong({}))],
    ["checkDeterminism needs `tool`.", () => checkDeterminism(server, wrong({}))],
    ["checkDeterminism needs `answer`.", () => checkDeterminism(server, wrong({ tool: "t" }))],
  ];

  test.each(cases)("%s", async (message, call) => {
    expect(await refusal(call)).toBe(`invalid_options: ${message}`);
  });
});
