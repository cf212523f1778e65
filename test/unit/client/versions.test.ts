import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { connect } from "../../../src/client.ts";
import { memory, type Script, sendJson, serve, text } from "./fixtures.ts";

const refusal = (supported: unknown): unknown => ({
  error: { code: -32022, message: "Unsupported protocol version", data: { supported, requested: "2026-07-28" } },
});

describe("versions", () => {
  test("H2: a server that refuses our version and lists it is asked once more", async () => {
    let calls = 0;
    const transport = memory(() => (calls++ === 0 ? refusal(["2026-07-28", "2025-11-25"]) : text("done")));
    const client = await connect(transport);
    expect(await client.callTool("work")).toEqual(text("done"));
    expect(transport.requests.map(({ id }) => id)).toEqual([1, 2]);
    const meta = transport.requests[1]?.params?._meta as Record<string, unknown>;
    expect(meta["io.modelcontextprotocol/protocolVersion"]).toBe("2026-07-28");
  });

  test("H2: not twice", async () => {
    const transport = memory(() => refusal(["2026-07-28"]));
    await expect((await connect(transport)).callTool("work")).rejects.toMatchObject({ code: -32022 });
    expect(transport.requests).toHaveLength(2);
  });

  test.each([[["2025-11-25", "2025-06-18"]], [[]], [undefined], ["2026-07-28"]])(
    "V3: a server that speaks %j gets one clear error",
    async (supported) => {
      const transport = memory(() => refusal(supported));
      await expect((await connect(transport)).callTool("work")).rejects.toMatchObject({
        code: "legacy_server",
        message: expect.stringContaining("2026-07-28"),
      });
      expect(transport.requests).toHaveLength(1);
    },
  );

  test("V3: so does one that does not know server/discover", async () => {
    const client = await connect(memory(() => ({ error: { code: -32601, message: "Method not found" } })));
    await expect(client.discover()).rejects.toMatchObject({ code: "legacy_server" });
  });

  const DISCOVERED = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} };
  const refusing =
    (status: number, code?: number, data?: unknown): Script =>
    ({ id }, reply) =>
      code === undefined
        ? void reply.writeHead(status).end()
        : sendJson(reply, status, { jsonrpc: "2.0", id, error: { code, message: "Not like this", data } });
  const mcpLite = refusing(400, -32602, { expectedVersion: "2025-06-18", receivedVersion: "2026-07-28" });

  test.each([
    ["200 with -32602", refusing(200, -32602)],
    ["200 with -32603", refusing(200, -32603)],
    ["200 with -32000", refusing(200, -32000)],
    ["400 with -32602, as mcp-lite has it", mcpLite],
    ["400 with -32000", refusing(400, -32000)],
    ["404 with -32601", refusing(404, -32601)],
    ["400", refusing(400)],
    ["404", refusing(404)],
    ["405", refusing(405)],
    ["406", refusing(406)],
    ["406 with -32000", refusing(406, -32000)],
    ["422", refusing(422)],
  ])(
    "case 17, F6: server/discover answered by %s means an older server, with a cause that prints",
    async (_name, script) => {
      await using server = await serve(script);
      const client = await connect(server.url);
      const error = await client.discover().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: "VolleyError", code: "legacy_server" });
      const { cause } = error as Error;
      expect(cause).toBeInstanceOf(Error);
      expect(`${cause}`).toMatch(/HTTP 4|Not like this/);
      expect(inspect(cause)).not.toContain("[object Object]");
      await client.close();
    },
  );

  test.each([
    [400, -32020],
    [400, -32021],
    [401, -32001],
    [403, -32001],
    [500, -32603],
  ])("case 17: server/discover answered by HTTP %i with %i does not", async (status, code) => {
    await using server = await serve(refusing(status, code));
    const client = await connect(server.url);
    await expect(client.discover()).rejects.toMatchObject({ name: "RpcError", code, cause: { status } });
    await client.close();
  });

  test("case 17: nor does an error of a server that has answered before", async () => {
    let calls = 0;
    await using server = await serve((seen, reply) =>
      calls++ === 0 ? { resultType: "complete", prompts: [] } : refusing(200, -32603)(seen, reply),
    );
    const client = await connect(server.url);
    await client.listPrompts();
    await expect(client.discover()).rejects.toMatchObject({ name: "RpcError", code: -32603 });
    await client.close();
  });

  test("case 17: nor does a page", async () => {
    let calls = 0;
    await using server = await serve((seen, reply) =>
      calls++ === 0 ? { resultType: "complete", prompts: [] } : refusing(404)(seen, reply),
    );
    const client = await connect(server.url);
    await client.listPrompts();
    await expect(client.listPrompts()).rejects.toMatchObject({ code: "connection_failed", cause: { status: 404 } });
    await client.close();
  });

  test("F4: an older server's first error is told from one of this revision by asking it who it is", async () => {
    await using older = await serve(mcpLite);
    const atOlder = await connect(older.url);
    await expect(atOlder.callTool("work")).rejects.toMatchObject({ code: "legacy_server" });
    await expect(atOlder.listPrompts()).rejects.toMatchObject({ code: "legacy_server", cause: { code: -32602 } });
    await atOlder.close();

    await using current = await serve((seen, reply) =>
      seen.method === "server/discover" ? DISCOVERED : refusing(400, -32602)(seen, reply),
    );
    const client = await connect(current.url);
    for (let call = 0; call < 2; call++)
      await expect(client.listPrompts()).rejects.toMatchObject({ name: "RpcError", code: -32602 });
    expect(current.seen.map(({ method }) => method)).toEqual(["prompts/list", "server/discover", "prompts/list"]);
    await client.close();
  });

  test("the client says which version of the package it is", async () => {
    const transport = memory(() => text("done"));
    await (await connect(transport)).callTool("work");
    const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
    const meta = transport.requests[0]?.params?._meta as Record<string, unknown>;
    expect(meta["io.modelcontextprotocol/clientInfo"]).toEqual({ name: "volley-mcp", version });
  });

  test("any request can be sent, for extensions", async () => {
    const transport = memory(({ params }) => ({ resultType: "complete", echo: params?.taskId }));
    const client = await connect(transport);
    expect(await client.request("tasks/get", { taskId: "t" })).toEqual({ resultType: "complete", echo: "t" });
  });

  test("what the caller puts into _meta does not replace the protocol's own keys", async () => {
    const transport = memory(() => text("done"));
    const client = await connect(transport);
    await client.callTool(
      "work",
      {},
      {
        meta: { "io.modelcontextprotocol/protocolVersion": "1900-01-01", progressToken: "mine" },
        onProgress: () => {},
      },
    );
    expect(transport.requests[0]?.params?._meta).toMatchObject({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      progressToken: 1,
    });
  });
});
