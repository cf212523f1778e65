import { describe, expect, test, vi } from "vitest";
import { type Client, type ConnectOptions, connect, type LogEntry, type Progress } from "../../../src/client.ts";
import { form, inputRequired, openStream, type Script, type Seen, sendJson, serve, TASKS, text } from "./fixtures.ts";

const noTools = { error: { code: -32601, message: "Method not found" } };

const DISCOVERED = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} };

/** Lists no tools, and does `script` for the rest. */
function withoutTools(script: Script): Script {
  return (seen, reply) => (seen.method === "tools/list" ? noTools : script(seen, reply));
}

const transports: [string, ConnectOptions][] = [
  ["node:http", {}],
  ["fetch", { fetch: (url, init) => fetch(url, init) }],
];

describe.each(transports)("%s", (_, base) => {
  const open = (url: string, options: ConnectOptions = {}): Promise<Client> =>
    connect(url, { ...base, onWarning: () => {}, ...options });

  test("H1, H3, C12: a request carries its metadata and the headers that mirror it", async () => {
    await using server = await serve(withoutTools(() => text("done")));
    const client = await open(server.url, {
      clientInfo: { name: "host", version: "2.0.0" },
      form: () => "cancel",
      headers: { Authorization: "Bearer t", "X-Trace": "1" },
    });
    expect(
      await client.callTool("get_weather", { location: "Zürich" }, { meta: { traceparent: "00-1-2-01" } }),
    ).toEqual(text("done"));
    const [call] = server.of("tools/call") as [Seen];
    expect(call.params).toEqual({
      name: "get_weather",
      arguments: { location: "Zürich" },
      _meta: {
        traceparent: "00-1-2-01",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "host", version: "2.0.0" },
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} }, ...TASKS },
      },
    });
    expect(call.headers).toMatchObject({
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "get_weather",
      authorization: "Bearer t",
      "x-trace": "1",
      host: new URL(server.url).host,
    });
    expect(call.headers["mcp-session-id"]).toBeUndefined();
    await client.close();
  });

  test("C12: clientInfo is this package's by default, and none when told so", async () => {
    await using server = await serve(() => ({ resultType: "complete", prompts: [] }));
    const unnamed = await open(server.url);
    await unnamed.listPrompts();
    const silent = await open(server.url, { clientInfo: false });
    await silent.listPrompts();
    const infos = server.seen.map(({ params }) => params._meta["io.modelcontextprotocol/clientInfo"]);
    expect(infos).toEqual([{ name: "volley-mcp", version: "0.1.0" }, undefined]);
    await Promise.all([unnamed.close(), silent.close()]);
  });

  test.each([
    ["file:///é", "=?base64?ZmlsZTovLy/DqQ==?="],
    ["file:///a b", "file:///a b"],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
  ])("H3, case 10: Mcp-Name of %j", async (uri, header) => {
    await using server = await serve(() => ({ resultType: "complete", contents: [] }));
    const client = await open(server.url);
    await client.readResource(uri);
    expect(server.seen[0]?.headers["mcp-name"]).toBe(header);
    await client.close();
  });

  test("methods without a name have no Mcp-Name", async () => {
    await using server = await serve(() => ({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: {},
    }));
    const client = await open(server.url);
    await client.discover();
    expect(server.seen[0]?.headers["mcp-method"]).toBe("server/discover");
    expect(server.seen[0]?.headers["mcp-name"]).toBeUndefined();
    await client.close();
  });

  test("headers are made anew for each request, later rounds too", async () => {
    await using server = await serve(
      withoutTools(({ params }) => (params.requestState === undefined ? inputRequired(undefined, "s") : text("done"))),
    );
    let token = 0;
    const client = await open(server.url, { headers: async () => ({ authorization: `Bearer ${++token}` }) });
    await client.callTool("work");
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2", "Bearer 3"]);
    await client.close();
  });

  test.each(["mcp-method", "Content-Length", "Accept", "Host"])(
    "the header %s is not the caller's to set",
    async (name) => {
      await using server = await serve(() => text("done"));
      const fails = async (): Promise<unknown> =>
        (await open(server.url, { headers: { [name]: "x" } })).callTool("work");
      await expect(fails()).rejects.toMatchObject({ code: "invalid_options" });
      expect(server.seen).toEqual([]);
    },
  );

  test("C5: a result without a type is complete", async () => {
    await using server = await serve(withoutTools(() => ({ content: [] })));
    const client = await open(server.url);
    expect(await client.callTool("work")).toEqual({ resultType: "complete", content: [] });
    await client.close();
  });

  test("a result of many bytes in pieces is put together", async () => {
    await using server = await serve(
      withoutTools(async ({ id }, reply) => {
        const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result: text("é🌍".repeat(50_000)) }));
        reply.writeHead(200, { "content-type": "application/json" });
        for (let at = 0; at < body.length; at += 65_537) {
          reply.write(body.subarray(at, at + 65_537));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        reply.end();
      }),
    );
    const client = await open(server.url);
    expect(await client.callTool("work")).toEqual(text("é🌍".repeat(50_000)));
    await client.close();
  });

  describe("streams", () => {
    test("progress and log messages come before the answer, in order, for their request only", async () => {
      await using server = await serve(
        withoutTools(({ id, params }, reply) => {
          const stream = openStream(reply);
          const progress = (progressToken: unknown, value: number): void =>
            stream.send({
              jsonrpc: "2.0",
              method: "notifications/progress",
              params: { progressToken, progress: value, total: 100, message: `${value} %` },
            });
          reply.write(": keep-alive\n\n");
          progress(params._meta.progressToken, 0);
          progress("another", 10);
          stream.send({
            jsonrpc: "2.0",
            method: "notifications/message",
            params: { level: "info", logger: "db", data: { a: 1 } },
          });
          stream.send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "loud", data: 1 } });
          progress(params._meta.progressToken, 50);
          progress(params._meta.progressToken, 40);
          stream.send({ jsonrpc: "2.0", id: "q", method: "roots/list" });
          reply.write("data: no json\n\nevent: ping\ndata: {}\n\n");
          stream.send({ jsonrpc: "2.0", id, result: text("done") });
          progress(params._meta.progressToken, 100);
          stream.end();
        }),
      );
      const seen: Progress[] = [];
      const logged: LogEntry[] = [];
      const client = await open(server.url);
      const result = await client.callTool(
        "work",
        {},
        { onProgress: (progress) => seen.push(progress), onLog: (entry) => logged.push(entry), logLevel: "debug" },
      );
      expect(result).toEqual(text("done"));
      expect(seen).toEqual([
        { progress: 0, total: 100, message: "0 %" },
        { progress: 50, total: 100, message: "50 %" },
      ]);
      expect(logged).toEqual([{ level: "info", logger: "db", data: { a: 1 } }]);
      const meta = server.of("tools/call")[0]?.params._meta;
      expect(meta?.["io.modelcontextprotocol/logLevel"]).toBe("debug");
      expect(meta?.progressToken).toBe(server.of("tools/call")[0]?.id);
      await client.close();
    });

    test("without listeners no progress and no log level is asked for", async () => {
      await using server = await serve(withoutTools(() => text("done")));
      const client = await open(server.url);
      await client.callTool("work");
      expect(Object.keys(server.of("tools/call")[0]?.params._meta ?? {})).toEqual([
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/clientCapabilities",
      ]);
      await client.close();
    });

    test("an event in pieces, with any line ends and several data lines", async () => {
      await using server = await serve(
        withoutTools(async ({ id }, reply) => {
          openStream(reply);
          const body = Buffer.from(
            `event: message\r\ndata: {"jsonrpc":"2.0",\r\ndata: "id":${id},"result":{"resultType":"complete","content":[{"type":"text","text":"é🌍"}]}}\r\n\r\n`,
          );
          for (const byte of body) {
            reply.write(Buffer.of(byte));
            if (byte === 0x2c) await new Promise((resolve) => setTimeout(resolve, 1));
          }
          reply.end();
        }),
      );
      const client = await open(server.url);
      expect(await client.callTool("work")).toEqual(text("é🌍"));
      await client.close();
    });

    test("an answer without a blank line at the end still counts", async () => {
      await using server = await serve(
        withoutTools(({ id }, reply) => {
          openStream(reply);
          reply.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: text("done") })}\n`);
        }),
      );
      const client = await open(server.url);
      expect(await client.callTool("work")).toEqual(text("done"));
      await client.close();
    });

    test("an error is an answer too", async () => {
      await using server = await serve(
        withoutTools(({ id }, reply) => {
          const stream = openStream(reply);
          stream.send({ jsonrpc: "2.0", id, error: { code: -32603, message: "Internal error" } });
          stream.end();
        }),
      );
      const client = await open(server.url);
      await expect(client.callTool("work")).rejects.toMatchObject({ name: "RpcError", code: -32603 });
      await client.close();
    });

    test("one that ends without an answer is a broken connection", async () => {
      await using server = await serve(withoutTools((_seen, reply) => openStream(reply).end()));
      const client = await open(server.url);
      await expect(client.callTool("work")).rejects.toMatchObject({ code: "connection_failed" });
      await client.close();
    });

    test("one that stays open after the answer is given up", async () => {
      let closed = 0;
      await using server = await serve(
        withoutTools(({ id }, reply) => {
          reply.on("close", () => closed++);
          openStream(reply).send({ jsonrpc: "2.0", id, result: text("done") });
        }),
      );
      const client = await open(server.url);
      await client.callTool("work");
      await vi.waitFor(() => expect(closed).toBe(1), 3_000);
      await client.close();
    });

    test("a listener that fails is a warning, not the end of the call", async () => {
      const warnings: string[] = [];
      await using server = await serve(
        withoutTools(({ id, params }, reply) => {
          const stream = openStream(reply);
          stream.send({
            jsonrpc: "2.0",
            method: "notifications/progress",
            params: { progressToken: params._meta.progressToken, progress: 1 },
          });
          stream.send({ jsonrpc: "2.0", id, result: text("done") });
          stream.end();
        }),
      );
      const client = await open(server.url, { onWarning: (warning) => warnings.push(warning) });
      const onProgress = (): never => {
        throw new Error("broken bar");
      };
      expect(await client.callTool("work", {}, { onProgress })).toEqual(text("done"));
      expect(warnings).toEqual([expect.stringContaining("broken bar")]);
      await client.close();
    });
  });

  describe("H6: giving up closes the request's own stream and nothing else", () => {
    test.each(["before the reply", "in the middle of a stream"])("%s", async (when) => {
      const closed: string[] = [];
      await using server = await serve(
        withoutTools(async ({ id, params }, reply) => {
          reply.on("close", () => closed.push(`${params.name} ${reply.writableEnded}`));
          if (params.name === "other") {
            await new Promise((resolve) => setTimeout(resolve, 150));
            return text("done");
          }
          if (when !== "before the reply")
            openStream(reply).send({
              jsonrpc: "2.0",
              method: "notifications/progress",
              params: { progressToken: id, progress: 1 },
            });
          return undefined;
        }),
      );
      const client = await open(server.url);
      await client.listTools().catch(() => {});
      const abort = new AbortController();
      const given = client.callTool("given up", {}, { signal: abort.signal });
      const other = client.callTool("other");
      setTimeout(() => abort.abort(), 50);
      await expect(given).rejects.toMatchObject({ code: "aborted" });
      await vi.waitFor(() => expect(closed[0]).toBe("given up false"));
      expect(await other).toEqual(text("done"));
      expect(server.seen.some(({ method }) => method.startsWith("notifications/"))).toBe(false);
      await client.close();
    });

    test("a time limit does the same", async () => {
      let closed = false;
      await using server = await serve(
        withoutTools((_seen, reply) => {
          reply.on("close", () => {
            closed = true;
          });
        }),
      );
      const client = await open(server.url, { legTimeoutMs: 50 });
      await expect(client.callTool("work")).rejects.toMatchObject({ code: "timeout" });
      await vi.waitFor(() => expect(closed).toBe(true));
      await client.close();
    });

    test("close() ends all that is open", async () => {
      await using server = await serve(withoutTools(() => undefined));
      const client = await open(server.url);
      const calls = [client.callTool("a"), client.readResource("b:")];
      setTimeout(() => void client.close(), 30);
      for (const result of await Promise.allSettled(calls))
        expect(result).toMatchObject({ status: "rejected", reason: { code: "closed" } });
    });
  });

  describe("a reply that is none", () => {
    const replies: [string, Script, string][] = [
      ["400 with nothing", (_seen, reply) => void reply.writeHead(400).end(), "legacy_server"],
      [
        "404 page",
        (_seen, reply) => void reply.writeHead(404, { "content-type": "text/html" }).end("<h1>Not found</h1>"),
        "legacy_server",
      ],
      ["405", (_seen, reply) => void reply.writeHead(405).end(), "legacy_server"],
      [
        "400 of a server with sessions",
        ({ id }, reply) =>
          sendJson(reply, 400, {
            jsonrpc: "2.0",
            error: { code: -32000, message: "Bad Request: Server not initialized" },
            id: id ? null : id,
          }),
        "legacy_server",
      ],
      [
        "404 of a server with sessions",
        (_seen, reply) =>
          sendJson(reply, 404, { jsonrpc: "2.0", error: { code: -32001, message: "Session not found" }, id: null }),
        "legacy_server",
      ],
      [
        "400 without a session id",
        (_seen, reply) =>
          sendJson(reply, 400, {
            jsonrpc: "2.0",
            id: "server-error",
            error: { code: -32600, message: "Bad Request: Missing session ID" },
          }),
        "legacy_server",
      ],
      [
        "401",
        (_seen, reply) =>
          void reply.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="https://a.example/"' }).end(),
        "connection_failed",
      ],
      [
        "302",
        (_seen, reply) => void reply.writeHead(302, { location: "https://elsewhere.example/" }).end(),
        "connection_failed",
      ],
      [
        "502 page",
        (_seen, reply) => void reply.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
        "connection_failed",
      ],
      [
        "200 page",
        (_seen, reply) => void reply.writeHead(200, { "content-type": "text/html" }).end("<h1>Hello</h1>"),
        "message_invalid",
      ],
      [
        "200 with an answer to something else",
        (_seen, reply) => sendJson(reply, 200, { jsonrpc: "2.0", id: "other", result: text("") }),
        "message_invalid",
      ],
      [
        "200 with a batch",
        ({ id }, reply) => sendJson(reply, 200, [{ jsonrpc: "2.0", id, result: text("") }]),
        "message_invalid",
      ],
      ["202", (_seen, reply) => void reply.writeHead(202).end(), "message_invalid"],
      [
        "a cut",
        (_seen, reply) =>
          void reply
            .writeHead(200, { "content-type": "application/json", "content-length": 100 })
            .write('{"json', () => reply.destroy()),
        "connection_failed",
      ],
      ["a hang-up", (_seen, reply) => void reply.destroy(), "connection_failed"],
    ];
    test.each(replies)("V3: %s", async (_name, script, code) => {
      await using server = await serve(script);
      const client = await open(server.url);
      await expect(client.listPrompts()).rejects.toMatchObject({ name: "VolleyError", code });
      await client.close();
    });

    test("what a 401 says about authorization can be read", async () => {
      await using server = await serve(
        (_seen, reply) => void reply.writeHead(401, { "www-authenticate": "Bearer x" }).end(),
      );
      const client = await open(server.url);
      await expect(client.listPrompts()).rejects.toMatchObject({ cause: { status: 401, wwwAuthenticate: "Bearer x" } });
      await client.close();
    });

    test("nobody there is a broken connection", async () => {
      const client = await open("http://127.0.0.1:9/mcp");
      await expect(client.listPrompts()).rejects.toMatchObject({
        code: "connection_failed",
        message: expect.stringContaining("127.0.0.1:9"),
      });
      await client.close();
    });
  });

  test.each([
    [400, -32602],
    [404, -32601],
    [400, -32021],
    [429, 42900],
    [500, -32603],
  ])("an error with HTTP %i and code %i is the server's", async (status, code) => {
    await using server = await serve(({ id, method }, reply) => {
      if (method === "server/discover") return DISCOVERED;
      reply.setHeader("retry-after", "3600");
      return sendJson(reply, status, { jsonrpc: "2.0", id, error: { code, message: "no", data: { a: 1 } } });
    });
    const client = await open(server.url);
    await expect(client.listPrompts()).rejects.toMatchObject({
      name: "RpcError",
      code,
      message: "no",
      data: { a: 1 },
      cause: { status, retryAfter: "3600" },
    });
    await client.close();
  });

  test("a result nested 10,000 deep comes through", async () => {
    await using server = await serve(
      withoutTools(({ id }, reply) => {
        const deep = `${'{"a":'.repeat(10_000)}1e400${"}".repeat(10_000)}`;
        reply
          .writeHead(200, { "content-type": "application/json" })
          .end(
            `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","content":[],"__proto__":{"x":1},"_meta":{"constructor":${deep}}}}`,
          );
      }),
    );
    const client = await open(server.url);
    const result = await client.callTool("work");
    expect(Object.hasOwn(result, "__proto__")).toBe(true);
    expect("x" in result).toBe(false);
    await client.close();
  });

  test("case 23: questions nested 10,000 deep are an error", async () => {
    await using server = await serve(
      withoutTools(({ id }, reply) => {
        const deep = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
        const asked = JSON.stringify({
          jsonrpc: "2.0",
          id,
          result: inputRequired({ a: form({ x: { type: "string", deep: "HERE" } }) }),
        });
        reply.writeHead(200, { "content-type": "application/json" }).end(asked.replace('"HERE"', deep));
      }),
    );
    const client = await open(server.url, { form: () => "cancel" });
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "message_invalid" });
    await client.close();
  });
});

test("one pool of connections is kept alive", async () => {
  await using server = await serve(withoutTools(() => text("done")));
  const client = await connect(server.url);
  for (let call = 0; call < 5; call++) await client.callTool("work");
  expect(server.connections()).toBe(1);
  await client.close();
});

test("case 24: a state with half a surrogate pair comes back exactly over HTTP", async () => {
  await using server = await serve(
    withoutTools(({ params }) =>
      params.requestState === undefined
        ? inputRequired(undefined, "\ud83d+/=")
        : text(JSON.stringify(params.requestState)),
    ),
  );
  const client = await connect(server.url);
  expect(await client.callTool("work")).toEqual(text('"\\ud83d+/="'));
  await client.close();
});

test.each(["ftp://a.example/", "nowhere", "https://user:pass@a.example/mcp"])(
  "%s is no address of a server",
  async (url) => {
    await expect(connect(url)).rejects.toMatchObject({ code: "invalid_options" });
  },
);

test("an address in brackets and a query are kept", async () => {
  await using server = await serve(() => ({ resultType: "complete", prompts: [] }));
  const client = await connect(`${server.url}?tenant=a`);
  await client.listPrompts();
  expect(client.server.address).toBe(server.url);
  await client.close();
});
