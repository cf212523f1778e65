import { createServer as createHttpServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createServer, type Server, type ServerOptions, type TraceEvent } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";
import { type Entry, entries, message, openNode, type Sent } from "./http-entry.ts";

const KEY = `vk1_${"A".repeat(43)}`;
const PREFLIGHT = { "access-control-request-method": "POST", "content-type": undefined, accept: undefined };

describe.each(entries)("over %s", (_name, open) => {
  let server: Server;
  let entry: Entry;
  const ran = vi.fn(() => "Hello.");

  const start = async (options: Partial<ServerOptions> = {}): Promise<(sent: Sent) => ReturnType<Entry["send"]>> => {
    ran.mockClear();
    server = createServer({ name: "test", version: "1.0.0", singleInstance: true, trace: () => undefined, ...options });
    server.tool("hello", {}, ran);
    entry = await open(server);
    return (sent) => entry.send(sent);
  };
  afterEach(async () => {
    await entry.close();
    await server.close();
  });
  const body = message("tools/call", { name: "hello" });

  test.each(["GET", "DELETE", "PUT", "PATCH"])("H5: %s is 405 and says what is allowed", async (method) => {
    const send = await start();
    const answer = await send({ method });
    expect([answer.status, answer.header("allow")]).toEqual([405, "POST, OPTIONS"]);
    expect(answer.json.error.message).toBe(
      "Send messages by POST; to let older clients in, serve it with createLegacyServer of volley-mcp/bridge.",
    );
  });

  test("H5: session and event ids of earlier revisions are ignored and not echoed", async () => {
    const send = await start();
    const answer = await send({ body, headers: { "mcp-session-id": "abc", "last-event-id": "1" } });
    expect([answer.status, answer.header("mcp-session-id")]).toEqual([200, null]);
  });

  test("case 16: a hostile Origin is 403, whatever else is right", async () => {
    const send = await start();
    for (const origin of [
      "https://evil.example",
      "null",
      "http://localhost.evil.example",
      "http://127.0.0.1.evil.example",
    ]) {
      expect((await send({ body, headers: { origin } })).status).toBe(403);
    }
    expect(ran).not.toHaveBeenCalled();
  });

  test("case 16: without an Origin a hostile Host is 403", async () => {
    const send = await start();
    for (const host of [
      "evil.example",
      "localhost.evil.example:3000",
      "127.0.0.1.evil.example",
      "[::1].evil.example",
    ]) {
      expect((await send({ body, headers: { host } })).status).toBe(403);
    }
    expect(ran).not.toHaveBeenCalled();
  });

  test("H7: pages and names of this machine are accepted", async () => {
    const send = await start();
    for (const headers of [
      { origin: "http://localhost:6274" },
      { origin: "https://127.0.0.1" },
      { origin: "http://[::1]:8080" },
      { host: "LOCALHOST:3000" },
      { host: "[::1]:3000" },
    ]) {
      expect((await send({ body, headers })).status).toBe(200);
    }
  });

  test("H7: a public server names its hosts and origins; nothing else is accepted", async () => {
    const send = await start({ allowedHosts: ["tracker.example"], allowedOrigins: ["https://app.example"] });
    const host = "tracker.example";
    expect((await send({ body, headers: { host } })).status).toBe(200);
    expect((await send({ body, headers: { host: "Tracker.Example:8443" } })).status).toBe(200);
    expect((await send({ body, headers: { host, origin: "https://app.example" } })).status).toBe(200);
    expect((await send({ body, headers: { host, origin: "http://localhost:6274" } })).status).toBe(403);
    expect((await send({ body, headers: { host: "localhost" } })).status).toBe(403);
  });

  test("H7: once hosts are named, no page may call until its origin is", async () => {
    const send = await start({ allowedHosts: ["tracker.example"] });
    const headers = { host: "tracker.example", origin: "http://localhost:6274" };
    expect((await send({ body, headers })).status).toBe(403);
  });

  test("case 15: a preflight is answered before authentication and allows the headers of the protocol", async () => {
    const send = await start({ authenticate: () => undefined });
    const answer = await send({
      method: "OPTIONS",
      headers: {
        ...PREFLIGHT,
        origin: "http://localhost:6274",
        "access-control-request-headers": "authorization, mcp-method, mcp-param-region, x-odd",
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.header("access-control-allow-origin")).toBe("http://localhost:6274");
    expect(answer.header("access-control-allow-methods")).toBe("POST, OPTIONS");
    const allowed = answer.header("access-control-allow-headers")?.split(", ");
    expect(allowed).toEqual(
      expect.arrayContaining([
        "authorization",
        "content-type",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-param-region",
      ]),
    );
    expect(allowed).not.toContain("x-odd");
  });

  test("case 15: a preflight from elsewhere is 403", async () => {
    const send = await start();
    expect((await send({ method: "OPTIONS", headers: { ...PREFLIGHT, origin: "https://evil.example" } })).status).toBe(
      403,
    );
  });

  test("H7: responses to allowed pages can be read by them, refusals included", async () => {
    const send = await start({ authenticate: () => undefined });
    const answer = await send({ body, headers: { origin: "http://localhost:6274" } });
    expect(answer.status).toBe(401);
    expect(answer.header("access-control-allow-origin")).toBe("http://localhost:6274");
    expect(answer.header("access-control-expose-headers")).toContain("WWW-Authenticate");
  });

  test("H7: with cors: false no page can read anything", async () => {
    const send = await start({ cors: false });
    const answer = await send({ body, headers: { origin: "http://localhost:6274" } });
    expect([answer.status, answer.header("access-control-allow-origin")]).toEqual([200, null]);
  });

  test("a caller that is nobody gets 401 whatever its body is, and nothing ran", async () => {
    const send = await start({ authenticate: async () => undefined, challenge: 'Bearer realm="x"' });
    for (const text of [body, "{", message("no/such/method"), message("tools/call", { name: "none" })]) {
      const answer = await send({ body: text });
      expect([answer.status, answer.header("www-authenticate")]).toEqual([401, 'Bearer realm="x"']);
      expect(answer.json.error.message).toBe("Authentication is required.");
    }
    expect(ran).not.toHaveBeenCalled();
  });

  test("a verification that throws refuses, and tells the operator why", async () => {
    const trace = vi.fn();
    const failure = new Error("token expired at ...");
    const send = await start({
      trace,
      authenticate: () => {
        throw failure;
      },
    });
    const answer = await send({ body });
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain("expired");
    expect(trace).toHaveBeenCalledWith({ type: "fault", target: "authenticate", error: failure });
  });

  test("the verified principal reaches the handler", async () => {
    const user = { type: "user", issuer: "https://id.example", subject: "u1" } as const;
    const send = await start({
      authenticate: (request) => (request.header("authorization") === "Bearer good" ? user : undefined),
    });
    server.tool("who", {}, (_args, ctx) => JSON.stringify(ctx.principal));
    const answer = await send({
      body: message("tools/call", { name: "who" }),
      headers: { authorization: "Bearer good" },
    });
    expect(JSON.parse(answer.json.result.content[0].text)).toEqual(user);
  });

  test.each([
    ["text/plain", 415],
    [undefined, 415],
    ["application/json; charset=utf-8", 200],
    ["Application/JSON", 200],
  ])("content type %s is %i", async (type, status) => {
    const send = await start();
    expect((await send({ body: JSON.stringify(body), headers: headersOf(type) })).status).toBe(status);
  });

  const headersOf = (type: string | undefined): Record<string, string | undefined> => ({
    "content-type": type,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "hello",
  });

  test.each([
    ["text/html", 406],
    ["image/*", 406],
    ["*/*", 200],
    ["application/json", 200],
    ["text/event-stream", 200],
    [undefined, 200],
  ])("Accept: %s is %i", async (accept, status) => {
    const send = await start();
    expect((await send({ body, headers: { accept } })).status).toBe(status);
  });

  test("H13: a body over the limit is 413", async () => {
    const send = await start({ limits: { bodyBytes: 1000 } });
    const answer = await send({ body: " ".repeat(1001) });
    expect([answer.status, answer.json.error.code]).toEqual([413, -32600]);
    expect((await send({ body })).status).toBe(200);
  });

  test("H13: headers over the limit are 431", async () => {
    const send = await start({ limits: { headerBytes: 1000 } });
    expect((await send({ body, headers: { "x-much": "a".repeat(1000) } })).status).toBe(431);
    expect((await send({ body })).status).toBe(200);
  });

  test("S23: more requests at once than allowed are 429 with Retry-After and a code outside the reserved ranges", async () => {
    const limited = new Set<string>();
    const trace = (event: TraceEvent): void => void (event.type === "limited" && limited.add(event.limit));
    const send = await start({ trace, limits: { inFlight: 1 } });
    let release: (value: string) => void = () => undefined;
    server.tool("slow", {}, () => new Promise<string>((resolve) => (release = resolve)));
    const first = send({ body: message("tools/call", { name: "slow" }) });
    await vi.waitFor(async () => {
      const second = await send({ body });
      expect([second.status, second.header("retry-after"), second.json.error.code]).toEqual([429, "1", 42900]);
    });
    release("done");
    expect((await first).json.result.content[0].text).toBe("done");
    expect((await send({ body })).status).toBe(200);
    expect([...limited]).toEqual(["inFlight"]);
  });

  test("S23: a client that loops is 429 for the rest of the minute, by default shared among anonymous callers", async () => {
    let now = 1_000_000;
    const clock = { now: () => now, after: () => () => undefined };
    const send = await start({ clock, limits: { anonymousCallsPerMinute: 2 } });
    expect((await send({ body })).status).toBe(200);
    now += 20_000;
    expect((await send({ body })).status).toBe(200);
    const answer = await send({ body });
    expect([answer.status, answer.header("retry-after"), answer.json.error.code]).toEqual([429, "40", 42900]);
    expect((await send({ body: message("tools/list") })).status).toBe(200);
    now += 40_000;
    expect((await send({ body })).status).toBe(200);
  });

  test("S23: each user has an allowance of their own", async () => {
    const send = await start({
      limits: { callsPerMinute: 1 },
      authenticate: (request) => ({ type: "user", issuer: "i", subject: request.header("x-user") ?? "" }),
    });
    const statuses: number[] = [];
    for (const user of ["a", "a", "b"]) statuses.push((await send({ body, headers: { "x-user": user } })).status);
    expect(statuses).toEqual([200, 429, 200]);
  });

  test("a server that is closing says 503 and when to come back", async () => {
    const send = await start();
    await server.close();
    const answer = await send({ body });
    expect([answer.status, answer.header("retry-after"), answer.json.error]).toEqual([
      503,
      "1",
      { code: 50300, message: "The server is closing. Try again." },
    ]);
    expect(ran).not.toHaveBeenCalled();
  });
});

describe("an unsafe set-up", () => {
  const unsafe: readonly (readonly [string, Partial<ServerOptions>, string])[] = [
    ["case 37: without keys", {}, "keys_missing"],
    ["with keys but no audience", { keys: [KEY] }, "invalid_options"],
  ];
  test.each(unsafe)("%s is refused over HTTP", async (_what, options, code) => {
    const server = createServer({ name: "test", version: "1.0.0", ...options });
    expect(() => server.fetch).toThrow(expect.objectContaining({ code }));
    expect(() => nodeHandler(server)).toThrow(expect.objectContaining({ code }));
  });

  test("case 37: the refusal names VOLLEY_KEYS, volley keygen and singleInstance", () => {
    const server = createServer({ name: "test", version: "1.0.0" });
    expect(() => server.fetch).toThrow(/VOLLEY_KEYS.*volley keygen.*singleInstance/s);
  });

  test("keys with an audience are served", () => {
    const server = createServer({
      name: "test",
      version: "1.0.0",
      keys: [KEY],
      audience: "https://tracker.example/mcp",
    });
    expect(server.fetch).toBeTypeOf("function");
  });
});

describe("bodies that do not end", () => {
  const listen = async (options: Partial<ServerOptions>) => {
    const server = createServer({ name: "test", version: "1.0.0", singleInstance: true, ...options });
    const http = createHttpServer(nodeHandler(server));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const close = (): void => {
      http.close();
      http.closeAllConnections();
    };
    return { port: (http.address() as AddressInfo).port, close };
  };
  const HEAD = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const firstLine = (socket: ReturnType<typeof connect>): Promise<string> =>
    new Promise((resolve) => socket.once("data", (data) => resolve(data.toString().split("\r\n")[0] as string)));

  test("case 8: 50 MB in chunks without a length are refused early", async () => {
    const { port, close } = await listen({});
    let written = 0;
    const status = await new Promise<number>((resolve, reject) => {
      const req = httpRequest({ port, method: "POST", path: "/mcp", headers: { "content-type": "application/json" } });
      req.on("response", (res) => {
        resolve(res.statusCode ?? 0);
        req.destroy();
      });
      req.on("error", reject);
      const chunk = Buffer.alloc(64 * 1024, 0x20);
      const write = (): void => {
        while (written < 50e6 && !req.destroyed) {
          written += chunk.length;
          if (!req.write(chunk)) return;
        }
      };
      req.on("drain", write);
      write();
    });
    expect(status).toBe(413);
    expect(written).toBeLessThan(20e6);
    close();
  });

  test("H13: a body that was announced too large is refused before it is sent", async () => {
    const { port, close } = await listen({});
    const socket = connect(port, "127.0.0.1");
    socket.write(`${HEAD}Content-Length: 99999999\r\n\r\n`);
    expect(await firstLine(socket)).toBe("HTTP/1.1 413 Payload Too Large");
    socket.destroy();
    close();
  });

  test("H13: a body that does not come in time is 408", async () => {
    const { port, close } = await listen({ limits: { bodyTimeoutMs: 50 } });
    const socket = connect(port, "127.0.0.1");
    socket.write(`${HEAD}Content-Length: 10\r\n\r\n{`);
    expect(await firstLine(socket)).toBe("HTTP/1.1 408 Request Timeout");
    socket.destroy();
    close();
  });

  test("H13: a body that does not come in time is 408 over fetch too", async () => {
    const server = createServer({
      name: "test",
      version: "1.0.0",
      singleInstance: true,
      limits: { bodyTimeoutMs: 50 },
    });
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([0x7b])) });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body, duplex: "half" };
    expect((await server.fetch(new Request("http://localhost/mcp", init as RequestInit))).status).toBe(408);
  });
});

test("H13: nobody's half body is an error of the server", async () => {
  const trace = vi.fn();
  const server = createServer({ name: "test", version: "1.0.0", singleInstance: true, trace });
  server.tool("hello", {}, () => "Hello.");
  const entry = await openNode(server);
  const http = createHttpServer(nodeHandler(server));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const socket = connect((http.address() as AddressInfo).port, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{");
  await new Promise((resolve) => setTimeout(resolve, 20));
  socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await entry.send({ body: message("tools/call", { name: "hello" }) })).status).toBe(200);
  expect(trace.mock.calls.filter(([event]) => event.type === "fault")).toEqual([]);
  http.close();
  await entry.close();
});
