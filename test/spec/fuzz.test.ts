// Damaged requests over a few kept connections, many at once. FUZZ_RUNS says how many (2,000 unless it is set).
import { Agent, createServer as createHttpServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { createServer } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";
import { change, damage } from "./damage.ts";
import { headersFor, message, tracing } from "./wire.ts";

const RUNS = Number(process.env.FUZZ_RUNS ?? 2_000);
const AT_ONCE = 20;
const DECLARED = new Set([200, 202, 204, 400, 403, 404, 405, 406, 413, 415, 431]);

const trace = tracing();
const server = createServer({
  name: "fuzzed",
  version: "1.0.0",
  singleInstance: true,
  trace: trace.trace,
  limits: { anonymousCallsPerMinute: Number.POSITIVE_INFINITY, bodyTimeoutMs: 1_000 },
});
const Name = z.object({ name: z.string() });
const input = z.object({ token: z.string(), n: z.number().optional() });
server.tool("echo", { input }, ({ token }) => token);
server.tool("ask", { input }, async ({ token }, ctx) => {
  ctx.progress(1);
  const [{ name }] = await Promise.all([
    ctx.elicit("name", { message: token, schema: Name }),
    ctx.confirm("sure", token),
  ]);
  return `${token} ${name}`;
});
server.tool("by_hand", { input }, ({ token }, ctx) =>
  ctx.inputResponses === undefined
    ? {
        resultType: "input_required",
        requestState: token.slice(0, 99),
        inputRequests: { where: { method: "roots/list" } },
      }
    : `${token} ${ctx.requestState}`,
);
server.prompt("greet", { arguments: z.object({ token: z.string() }) }, async ({ token }, ctx) => {
  return `${token} ${await ctx.confirm("sure", token)}`;
});
server.resourceTemplate("item", "item:///{token}", {}, ({ token }) => token);

const http = createHttpServer(nodeHandler(server));
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  port = (http.address() as AddressInfo).port;
});
afterAll(async () => {
  agent.destroy();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
  await server.close(0);
});

/** States that were really sealed, with the token that they are bound to. */
const sealed: { readonly tool: string; readonly token: string; readonly state: string }[] = [];
let made = 0;

/** A sound request, with an id and a token that no other one has. */
function sound(kind: number): { readonly token: string; readonly body: object } {
  const id = `id-${++made}`;
  const token = `token-${made}-`;
  const known = sealed[made % Math.max(sealed.length, 1)];
  const answers = {
    name: { action: "accept", content: { name: "Ada" } },
    sure: { action: "decline" },
    where: { roots: [] },
  };
  const meta = { progressToken: made };
  switch (kind) {
    case 0:
      return { token, body: message("tools/call", { name: "echo", arguments: { token, n: 1.5 } }, { id }) };
    case 1:
      return { token, body: message("tools/call", { name: "ask", arguments: { token } }, { id, meta }) };
    case 2:
      return { token, body: message("tools/call", { name: "by_hand", arguments: { token } }, { id }) };
    case 3:
      return { token, body: message("prompts/get", { name: "greet", arguments: { token } }, { id }) };
    case 4:
      return { token, body: message("resources/read", { uri: `item:///${token}` }, { id }) };
    case 5:
      return { token, body: message("tools/list", {}, { id }) };
    case 6:
      return { token, body: message("tools/nothing", { token }, { id }) };
    case 7:
      return { token, body: { jsonrpc: "2.0", method: "notifications/anything", params: { token } } };
    default: {
      const { tool, token, state } = known ?? { tool: "echo", token: "none", state: "v1" };
      return { token, body: message("tools/call", { name: tool, arguments: { token } }, { id, state, answers }) };
    }
  }
}

const header = fc.record({
  name: fc.constantFrom(
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-param-x",
    "content-type",
    "accept",
    "origin",
    "host",
    "content-encoding",
  ),
  value: fc.constantFrom(
    undefined,
    "",
    "x",
    "null",
    "__proto__",
    "=?base64?eA==?=",
    "=?base64?%?=",
    "\u00e9",
    "tools/call",
    "2025-11-25",
    "*/*",
  ),
});

const shot = fc.record({
  kind: fc.nat(10),
  changes: fc.array(change, { maxLength: 3 }),
  headers: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(header, { maxLength: 2 }) },
  ),
  method: fc.oneof(
    { weight: 24, arbitrary: fc.constant("POST") },
    { weight: 1, arbitrary: fc.constantFrom("GET", "DELETE", "OPTIONS", "PUT") },
  ),
  /** Some give up in the middle of their body or before the answer. */
  gives: fc.oneof(
    { weight: 14, arbitrary: fc.constant("all") },
    { weight: 1, arbitrary: fc.constantFrom("half", "up") },
  ),
});

interface Fired {
  readonly status: number;
  readonly text: string;
  readonly isStream: boolean;
  readonly sent: string;
  readonly token: string;
}

function fire({
  kind,
  changes,
  headers,
  method,
  gives,
}: typeof shot extends fc.Arbitrary<infer S> ? S : never): Promise<Fired | undefined> {
  const { token, body } = sound(kind);
  const sent = changes.reduce(damage, JSON.stringify(body));
  const { method: named, params } = body as { method: string; params: { name?: string; uri?: string } };
  const all: Record<string, string> = headersFor(named, params.name ?? params.uri);
  for (const { name, value } of headers) {
    if (value === undefined) delete all[name];
    else all[name] = value;
  }
  return new Promise((resolve, reject) => {
    const req = request({
      port,
      agent,
      method,
      path: "/mcp",
      headers: { ...all, "content-length": String(Buffer.byteLength(sent)) },
    });
    const hang = setTimeout(() => reject(new Error(`no answer to ${method} ${sent.slice(0, 500)}`)), 30_000);
    const settle = (fired: Fired | undefined): void => {
      clearTimeout(hang);
      resolve(fired);
    };
    req.on("response", (res) => {
      let text = "";
      res.setEncoding("utf8");
      res.on("data", (chunk: string) => (text += chunk));
      res.on("end", () => {
        const isStream = res.headers["content-type"] === "text/event-stream";
        settle({ status: res.statusCode ?? 0, text, isStream, sent, token });
      });
      res.on("error", () => settle(undefined));
    });
    req.on("error", () => settle(undefined));
    if (gives === "half") {
      req.write(sent.slice(0, sent.length / 2));
      setTimeout(() => req.destroy(), 5);
    } else {
      req.end(sent);
      if (gives === "up") setImmediate(() => req.destroy());
    }
  });
}

function idIn(text: string): unknown {
  try {
    return JSON.parse(text)?.id;
  } catch {
    return undefined;
  }
}

function judge({ status, text, isStream, sent, token }: Fired): void {
  expect(DECLARED).toContain(status);
  if (text === "") return;
  const messages = isStream
    ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string))
    : [JSON.parse(text)];
  const last = messages.pop();
  for (const { method, id } of messages) expect([method, id]).toEqual(["notifications/progress", undefined]);
  expect([last.jsonrpc, "result" in last !== "error" in last]).toEqual(["2.0", true]);
  // As JSON, which has one zero.
  if ("id" in last) expect(JSON.stringify(last.id)).toBe(JSON.stringify(idIn(sent)));
  expect(last.error?.code).not.toBe(-32603);
  // Whoever's token is in an answer has sent it.
  for (const [found] of text.matchAll(/token-\d+-/g)) expect(sent).toContain(found);
  const state = last.result?.requestState;
  if (state !== undefined && sent.includes(token) && sealed.length < 500) {
    const { name } = JSON.parse(sent).params;
    if (name === "ask" || name === "by_hand") sealed.push({ tool: name, token, state });
  }
}

test(`H4, S16: ${RUNS} damaged requests, ${AT_ONCE} at once on kept connections: declared answers, each one's own`, {
  timeout: 600_000,
}, async () => {
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(shot, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (shots) => {
      for (const fired of await Promise.all(shots.map(fire))) {
        if (fired === undefined) continue;
        judge(fired);
        statuses.set(fired.status, (statuses.get(fired.status) ?? 0) + 1);
      }
    }),
    { numRuns: Math.ceil(RUNS / AT_ONCE), endOnFailure: true },
  );
  expect(trace.of("fault")).toEqual([]);
  for (const status of [200, 202, 400, 403, 404, 405, 415])
    expect([status, statuses.get(status)]).not.toEqual([status, undefined]);
  expect(sealed.length).toBeGreaterThan(RUNS / 100);
  for (let kind = 0; kind <= 5; kind++) {
    const fired = await fire({ kind, changes: [], headers: [], method: "POST", gives: "all" });
    expect(fired?.status).toBe(200);
  }
  expect(({} as { x?: number }).x).toBe(undefined);
});

test("H4: requests that do not wait for one another on one connection are answered in their order", async () => {
  const socket = connect(port, "127.0.0.1");
  const bodies = Array.from({ length: 30 }, (_, n) => JSON.stringify(sound(n % 5).body));
  const heads = bodies.map((body) => {
    const { method, params } = JSON.parse(body);
    const lines = Object.entries(headersFor(method, params.name ?? params.uri)).map(
      ([name, value]) => `${name}: ${value}`,
    );
    return `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${lines.join("\r\n")}\r\n\r\n`;
  });
  const heard = new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
      if ([...text.matchAll(/"jsonrpc":"2\.0","id":/g)].length === bodies.length) resolve(text);
    });
  });
  socket.write(bodies.map((body, n) => heads[n] + body).join(""));
  const ids = [...(await heard).matchAll(/"jsonrpc":"2\.0","id":"([^"]+)"/g)].map(([, id]) => id);
  expect(ids).toEqual(bodies.map(idIn));
  socket.destroy();
});

test("bytes that are no HTTP are answered by 400 or by nothing, and the next ones are served", async () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
  const head = Buffer.from(
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
  );
  await fc.assert(
    fc.asyncProperty(bytes, fc.nat(head.length), async (junk, at) => {
      const heard = await new Promise<string>((resolve) => {
        const socket = connect(port, "127.0.0.1", () =>
          socket.end(Buffer.concat([head.subarray(0, at), junk, head.subarray(at)])),
        );
        let text = "";
        socket.on("data", (chunk) => (text += chunk.toString("latin1")));
        socket.on("error", () => resolve(text));
        socket.on("close", () => resolve(text));
      });
      expect(heard).not.toMatch(/HTTP\/1\.1 (?:2|5)/);
    }),
    { numRuns: 60, endOnFailure: true },
  );
  const fired = await fire({ kind: 0, changes: [], headers: [], method: "POST", gives: "all" });
  expect(fired?.status).toBe(200);
});
