import { describe, expect, test } from "vitest";
import { connect } from "../../../src/client.ts";
import { form, inputRequired, memory, type Seen, sendJson, serve, text } from "./fixtures.ts";

const region = {
  name: "execute_sql",
  inputSchema: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" }, query: { type: "string" } },
  },
};
const list = (...tools: unknown[]): unknown => ({ resultType: "complete", tools, ttlMs: 60_000, cacheScope: "public" });

function paramsIn({ headers }: Seen): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-")));
}

describe("parameters that are mirrored into headers", () => {
  test("case 14: without a prior list, and on round 2", async () => {
    await using server = await serve(({ method, params }) => {
      if (method === "tools/list") return list(region);
      return params.inputResponses === undefined
        ? inputRequired({ a: form({ ok: { type: "boolean" } }) }, "s")
        : text("done");
    });
    const client = await connect(server.url, { form: () => ({ ok: true }) });
    await client.callTool("execute_sql", { region: "us-west1", query: "SELECT 1" });
    await client.callTool("execute_sql", { region: "Hello, 世界", query: "SELECT 1" });
    expect(server.seen.map(({ method }) => method)).toEqual(["tools/list", ...Array(4).fill("tools/call")]);
    expect(server.of("tools/call").map(paramsIn)).toEqual([
      { "mcp-param-region": "us-west1" },
      { "mcp-param-region": "us-west1" },
      { "mcp-param-region": "=?base64?SGVsbG8sIOS4lueVjA==?=" },
      { "mcp-param-region": "=?base64?SGVsbG8sIOS4lueVjA==?=" },
    ]);
    expect(server.of("tools/call")[0]?.rawHeaders).toContain("Mcp-Param-Region");
    await client.close();
  });

  test.each([1e21, 2 ** 53, -(2 ** 53)])("case 14b, 62: the integer %d is refused by name, not sent", async (n) => {
    const inner = { type: "object", properties: { n: { type: "integer", "x-mcp-header": "N" } } };
    const tool = { name: "t", inputSchema: { type: "object", properties: { in: inner } } };
    await using server = await serve(({ method }) => (method === "tools/list" ? list(tool) : text("done")));
    const client = await connect(server.url);
    for (let call = 0; call < 2; call++) {
      await expect(client.callTool("t", { in: { n } })).rejects.toMatchObject({
        code: "invalid_options",
        message: expect.stringMatching(/argument "in\.n" of the tool "t".*2\^53/),
      });
    }
    expect(server.of("tools/call")).toEqual([]);
    await client.callTool("t", { in: { n: 2 ** 53 - 1 } });
    expect(paramsIn(server.of("tools/call")[0] as Seen)).toEqual({ "mcp-param-n": "9007199254740991" });
    await client.close();
  });

  test("H3: types, null and absence", async () => {
    const tool = {
      name: "t",
      inputSchema: {
        type: "object",
        properties: {
          n: { type: "integer", "x-mcp-header": "N" },
          b: { type: "boolean", "x-mcp-header": "B" },
          z: { type: "boolean", "x-mcp-header": "Z" },
          absent: { type: "string", "x-mcp-header": "Absent" },
          empty: { type: "string", "x-mcp-header": "Method" },
          in: { type: "object", properties: { deep: { type: "string", "x-mcp-header": "Deep" } } },
        },
      },
    };
    await using server = await serve(({ method }) => (method === "tools/list" ? list(tool) : text("done")));
    const client = await connect(server.url);
    await client.callTool("t", { n: -7, b: false, z: null, empty: "x", in: { deep: " y" } });
    expect(paramsIn(server.of("tools/call")[0] as Seen)).toEqual({
      "mcp-param-n": "-7",
      "mcp-param-b": "false",
      "mcp-param-method": "x",
      "mcp-param-deep": "=?base64?IHk=?=",
    });
    expect(server.of("tools/call")[0]?.headers["mcp-method"]).toBe("tools/call");
    await client.close();
  });

  test.each([1, 2])(
    "case 14: on -32020 in round %i the tools are listed again and the round is sent again, once",
    async (round) => {
      let version = 1;
      let refuse = true;
      await using server = await serve(({ id, method, params, headers }, reply) => {
        if (method === "tools/list")
          return list(version === 1 ? { ...region, inputSchema: { type: "object" } } : region);
        const current = params.inputResponses === undefined ? 1 : 2;
        if (current === round) version = 2;
        if (version === 2 && (headers["mcp-param-region"] !== "eu" || !refuse)) {
          return sendJson(reply, 400, { jsonrpc: "2.0", id, error: { code: -32020, message: "Header mismatch" } });
        }
        return current === 1 ? inputRequired({ a: form({ ok: { type: "boolean" } }) }, "s") : text("done");
      });
      const client = await connect(server.url, { form: () => ({ ok: true }) });
      expect(await client.callTool("execute_sql", { region: "eu" })).toEqual(text("done"));
      expect(server.of("tools/list")).toHaveLength(2);
      expect(server.of("tools/call")).toHaveLength(3);
      expect(new Set(server.of("tools/call").map(({ id }) => id)).size).toBe(3);
      expect(server.of("tools/call")[2]?.params.requestState).toBe("s");

      refuse = false;
      await expect(client.callTool("execute_sql", { region: "eu" })).rejects.toMatchObject({ code: -32020 });
      expect(server.of("tools/call")).toHaveLength(5);
      await client.close();
    },
  );

  test("C12: a tool with an invalid annotation is left out with a warning, the rest is kept", async () => {
    const warnings: string[] = [];
    const bad = {
      name: "bad",
      inputSchema: { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } },
    };
    const worse = {
      name: "worse",
      inputSchema: { type: "object", properties: { a: { type: "string", "x-mcp-header": "" } } },
    };
    await using server = await serve(({ method }) =>
      method === "tools/list" ? list(bad, region, worse) : text("done"),
    );
    const client = await connect(server.url, { onWarning: (warning) => warnings.push(warning) });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(["execute_sql"]);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(["execute_sql"]);
    expect(warnings).toEqual([
      expect.stringMatching(/"bad".*x-mcp-header/),
      expect.stringMatching(/"worse".*x-mcp-header/),
    ]);
    await expect(client.callTool("bad", { a: 1 })).rejects.toMatchObject({
      code: "message_invalid",
      message: expect.stringContaining('"bad"'),
    });
    expect(server.of("tools/call")).toEqual([]);
    await client.close();
  });

  test("without headers there is nothing to leave out, and no list", async () => {
    const bad = {
      name: "bad",
      inputSchema: { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } },
    };
    const transport = memory(({ method }) => (method === "tools/list" ? list(bad) : text("done")));
    const client = await connect(transport);
    await client.callTool("bad");
    expect(transport.requests.map(({ method }) => method)).toEqual(["tools/call"]);
    expect(await client.listTools()).toEqual([bad]);
  });

  test("a server that lists nothing is called all the same, and asked for its list once", async () => {
    await using server = await serve(({ method }) =>
      method === "tools/list" ? { error: { code: -32601, message: "Method not found" } } : text("done"),
    );
    const client = await connect(server.url);
    await client.callTool("hidden");
    await client.callTool("hidden");
    expect(server.seen.map(({ method }) => method)).toEqual(["tools/list", "tools/call", "tools/call"]);
    await client.close();
  });

  test("concurrent first calls list the tools once; giving up one of them does not end the others", async () => {
    await using server = await serve(async ({ method }) => {
      if (method !== "tools/list") return text("done");
      await new Promise((resolve) => setTimeout(resolve, 50));
      return list(region);
    });
    const client = await connect(server.url);
    const abort = new AbortController();
    const given = client.callTool("execute_sql", { region: "a" }, { signal: abort.signal });
    const others = [client.callTool("execute_sql", { region: "b" }), client.callTool("execute_sql", { region: "c" })];
    setTimeout(() => abort.abort(), 10);
    await expect(given).rejects.toMatchObject({ code: "aborted" });
    expect(await Promise.all(others)).toEqual([text("done"), text("done")]);
    expect(server.of("tools/list")).toHaveLength(1);
    expect(server.of("tools/call").map(paramsIn)).toEqual([{ "mcp-param-region": "b" }, { "mcp-param-region": "c" }]);
    await client.close();
  });

  test("case 23: a tool called __proto__ with a parameter called constructor", async () => {
    const tool = JSON.parse(
      '{"name":"__proto__","inputSchema":{"type":"object","properties":{"constructor":{"type":"string","x-mcp-header":"C"},"__proto__":{"type":"string","x-mcp-header":"P"}}}}',
    );
    await using server = await serve(({ method }) => (method === "tools/list" ? list(tool) : text("done")));
    const client = await connect(server.url);
    await client.callTool("__proto__", JSON.parse('{"constructor":"c","__proto__":"p"}'));
    await client.callTool("constructor", {});
    expect(server.of("tools/call").map(paramsIn)).toEqual([{ "mcp-param-c": "c", "mcp-param-p": "p" }, {}]);
    expect(server.of("tools/call").map(({ headers }) => headers["mcp-name"])).toEqual(["__proto__", "constructor"]);
    await client.close();
  });
});

describe("output schemas", () => {
  const sum = (outputSchema: unknown): unknown => ({ name: "add", inputSchema: { type: "object" }, outputSchema });
  const ok = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { sum: { type: "integer" } },
    required: ["sum"],
  };
  const structured = (value: unknown, more: Record<string, unknown> = {}): unknown => ({
    ...text("5"),
    structuredContent: value,
    ...more,
  });

  async function callWith(outputSchema: unknown, result: unknown, warnings: string[] = []): Promise<unknown> {
    const client = await connect(
      memory(({ method }) => (method === "tools/list" ? list(sum(outputSchema)) : result)),
      { onWarning: (warning) => warnings.push(warning) },
    );
    await client.listTools();
    return client.callTool("add");
  }

  test.each([
    ["fits", ok, structured({ sum: 5 })],
    ["fits without a dialect", { type: "array", prefixItems: [{ type: "string" }] }, structured(["a"])],
    [
      "fits draft-07",
      { $schema: "http://json-schema.org/draft-07/schema#", type: "object", required: ["sum"] },
      structured({ sum: 5 }),
    ],
    ["fits null", { type: "null" }, structured(null)],
    ["is a failure", ok, structured({ nothing: 1 }, { isError: true })],
    ["is a failure without any", ok, { ...text("no"), isError: true }],
    [
      "fits by its own references",
      { $defs: { n: { type: "integer" } }, type: "object", properties: { sum: { $ref: "#/$defs/n" } } },
      structured({ sum: 5 }),
    ],
    ["fits beside unknown keywords", { type: "object", "x-mcp-header": 1, deprecated: true }, structured({})],
  ])("H11: a result that %s", async (_, schema, result) => {
    expect(await callWith(schema, result)).toEqual(result);
  });

  test.each([
    ["does not fit", ok, structured({ sum: "5" }), "structuredContent/sum must be integer"],
    ["is missing", ok, text("5"), "no structured content"],
  ])("H11: a result that %s is an error", async (_, schema, result, message) => {
    await expect(callWith(schema, result)).rejects.toMatchObject({
      code: "message_invalid",
      message: expect.stringContaining(message),
      cause: result,
    });
  });

  test.each([
    ["refers to the network", { $ref: "https://canary.example/schema.json" }, "can't resolve reference"],
    ["is of an unknown dialect", { $schema: "https://x.example/dialect" }, "its dialect"],
    ["is none", { type: "sausage" }, "sausage"],
    ["has no end", { type: "object", description: "x".repeat(300_000) }, "larger than"],
    ["is too deep", JSON.parse(`${'{"not":'.repeat(500)}{}${"}".repeat(500)}`), "nesting"],
  ])("case 60: a schema that %s is at fault, once a tool; the result is handed out", async (_, schema, reason) => {
    const warnings: string[] = [];
    const result = structured({ sum: "5" });
    const client = await connect(
      memory(({ method }) => (method === "tools/list" ? list(sum(schema)) : result)),
      { onWarning: (warning) => warnings.push(warning) },
    );
    for (let n = 0; n < 3; n++) {
      await client.listTools();
      expect(await client.callTool("add")).toEqual(result);
    }
    expect(warnings).toEqual([expect.stringContaining('The output schema of the tool "add" cannot be used')]);
    expect(warnings[0]).toContain(reason);
  });

  test("a tool that has changed since it was listed is listed again before its result is judged", async () => {
    let listed = 0;
    const client = await connect(
      memory(({ method }) => {
        if (method !== "tools/list") return structured({ total: 5 });
        return list(sum(listed++ === 0 ? ok : { type: "object", required: ["total"] }));
      }),
    );
    await client.listTools();
    expect(await client.callTool("add")).toEqual(structured({ total: 5 }));
    expect(listed).toBe(2);
  });

  test("a tool that was never listed is looked up when its result is structured", async () => {
    const transport = memory(({ method }) => (method === "tools/list" ? list(sum(ok)) : structured({ sum: "5" })));
    await expect((await connect(transport)).callTool("add")).rejects.toMatchObject({ code: "message_invalid" });
  });

  test("case 23: __proto__ in a schema and in a result", async () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}',
    );
    const result = structured(JSON.parse('{"__proto__":1,"constructor":2}'));
    expect(await callWith(schema, result)).toEqual(result);
  });
});
