import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { connect } from "../../../src/client.ts";
import { memory, text } from "./fixtures.ts";

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
