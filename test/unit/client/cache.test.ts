import { describe, expect, test, vi } from "vitest";
import { createCache } from "../../../src/client/results/cache.ts";
import { connect } from "../../../src/client.ts";
import { form, inputRequired, type MemoryTransport, memory, serve } from "./fixtures.ts";

const complete = (more: Record<string, unknown>): Record<string, unknown> => ({ resultType: "complete", ...more });
const resource = (text: string, ttlMs?: number): unknown =>
  complete({
    contents: [{ uri: "file:///a", text }],
    ...(ttlMs === undefined ? {} : { ttlMs, cacheScope: "private" }),
  });

function methodsOf(transport: MemoryTransport): string[] {
  return transport.requests.map(({ method }) => method);
}

describe("the cache", () => {
  test("H10: keeps a result while now < received + ttlMs", () => {
    let now = 1_000;
    const cache = createCache(() => now);
    cache.open("resources/read", "a")({ resultType: "complete", ttlMs: 50 });
    now = 1_049;
    expect(cache.get("resources/read", "a")).toMatchObject({ ttlMs: 50 });
    now = 1_050;
    expect(cache.get("resources/read", "a")).toBeUndefined();
  });

  test.each([0, -1, undefined, "60000", Number.NaN])("H10: a ttlMs of %s keeps nothing", (ttlMs) => {
    const cache = createCache(() => 0);
    cache.open("tools/list", undefined)({ resultType: "complete", ttlMs });
    expect(cache.get("tools/list", undefined)).toBeUndefined();
  });

  test("no param, an empty one and others are told apart", () => {
    const cache = createCache(() => 0);
    for (const param of [undefined, "", "__proto__"])
      cache.open("tools/list", param)({ resultType: "complete", ttlMs: 1, param });
    for (const param of [undefined, "", "__proto__"]) expect(cache.get("tools/list", param)).toMatchObject({ param });
    expect(cache.get("constructor", undefined)).toBeUndefined();
  });

  test("what was dropped meanwhile is not put back by an answer that was under way", () => {
    const cache = createCache(() => 0);
    const keep = cache.open("tools/list", undefined);
    cache.drop("tools/list");
    keep({ resultType: "complete", ttlMs: 1 });
    expect(cache.get("tools/list", undefined)).toBeUndefined();
  });

  test("holds 1,000 results at most, the newest", () => {
    const cache = createCache(() => 0);
    for (let n = 0; n <= 1_000; n++) cache.open("resources/read", `${n}`)({ resultType: "complete", ttlMs: 1, n });
    expect(cache.get("resources/read", "0")).toBeUndefined();
    expect(cache.get("resources/read", "1")).toMatchObject({ n: 1 });
    expect(cache.get("resources/read", "1000")).toMatchObject({ n: 1_000 });
  });

  test("drops what is private only", () => {
    const cache = createCache(() => 0);
    cache.open("tools/list", "public")({ resultType: "complete", ttlMs: 1, cacheScope: "public" });
    cache.open("tools/list", "private")({ resultType: "complete", ttlMs: 1, cacheScope: "private" });
    cache.open("tools/list", "unsaid")({ resultType: "complete", ttlMs: 1 });
    cache.dropPrivate();
    expect(["public", "private", "unsaid"].map((param) => cache.get("tools/list", param) !== undefined)).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe("a client", () => {
  test("H10: keeps lists, discovery and resources by method and param, as long as their ttlMs says", async () => {
    vi.useFakeTimers();
    try {
      const transport = memory(({ method, params }) => {
        switch (method) {
          case "server/discover":
            return complete({
              supportedVersions: ["2026-07-28"],
              capabilities: {},
              ttlMs: 1_000,
              cacheScope: "public",
            });
          case "tools/list":
            return params?.cursor === undefined
              ? complete({
                  tools: [{ name: "a", inputSchema: { type: "object" } }],
                  nextCursor: "2",
                  ttlMs: 1_000,
                  cacheScope: "public",
                })
              : complete({ tools: [{ name: "b", inputSchema: { type: "object" } }], ttlMs: 500, cacheScope: "public" });
          default:
            return resource(String(params?.uri), params?.uri === "file:///b" ? 0 : 1_000);
        }
      });
      const client = await connect(transport);
      const all = async (): Promise<void> => {
        await client.discover();
        expect((await client.listTools()).map(({ name }) => name)).toEqual(["a", "b"]);
        await client.readResource("file:///a");
        await client.readResource("file:///b");
      };
      await all();
      expect(methodsOf(transport)).toEqual([
        "server/discover",
        "tools/list",
        "tools/list",
        "resources/read",
        "resources/read",
      ]);
      await all();
      expect(methodsOf(transport).slice(5)).toEqual(["resources/read"]);
      vi.setSystemTime(Date.now() + 600);
      await all();
      expect(methodsOf(transport).slice(6)).toEqual(["tools/list", "resources/read"]);
      expect(transport.requests[6]?.params?.cursor).toBe("2");
      vi.setSystemTime(Date.now() + 600);
      await all();
      expect(methodsOf(transport).slice(8)).toEqual([
        "server/discover",
        "tools/list",
        "tools/list",
        "resources/read",
        "resources/read",
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("H10, case 20: the result of a retry is not kept, neither after questions nor after a state alone", async () => {
    const transport = memory(({ params }) => {
      if (params?.inputResponses !== undefined || params?.requestState !== undefined)
        return resource("answered", 60_000);
      return params?.uri === "file:///ask"
        ? inputRequired({ a: form({ ok: { type: "boolean" } }) })
        : inputRequired(undefined, "s");
    });
    const client = await connect(transport, { form: () => ({ ok: true }) });
    for (const uri of ["file:///ask", "file:///ask", "file:///ticket", "file:///ticket"])
      await client.readResource(uri);
    expect(transport.requests).toHaveLength(8);
  });

  test("H10, case 20: a retry is never answered from what is kept", async () => {
    let asked = false;
    const transport = memory(({ params }) => {
      if (params?.inputResponses === undefined && !asked) {
        asked = true;
        return inputRequired({ a: form({ ok: { type: "boolean" } }) }, "s");
      }
      return params?.inputResponses === undefined ? resource("plain", 60_000) : resource("answered");
    });
    const client = await connect(transport, {
      form: async () => {
        await client.readResource("file:///a");
        return { ok: true };
      },
    });
    expect(await client.readResource("file:///a")).toMatchObject({ contents: [{ text: "answered" }] });
    expect(await client.readResource("file:///a")).toMatchObject({ contents: [{ text: "plain" }] });
    expect(transport.requests).toHaveLength(3);
  });

  test("what is kept cannot be changed by those who share it", async () => {
    const client = await connect(memory(() => resource("a", 60_000)));
    const result = await client.readResource("file:///a");
    expect(() => result.contents.push({ uri: "x", text: "y" })).toThrow(TypeError);
  });

  test("private results are dropped when the authorization changes", async () => {
    let token = "a";
    await using server = await serve(({ params }) => resource(String(params.uri), 60_000));
    const client = await connect(server.url, { headers: () => ({ Authorization: token }) });
    await client.readResource("file:///a");
    await client.readResource("file:///a");
    expect(server.seen).toHaveLength(1);
    token = "b";
    await client.readResource("file:///b");
    await client.readResource("file:///a");
    expect(server.seen.map(({ params }) => params.uri)).toEqual(["file:///a", "file:///b", "file:///a"]);
    await client.close();
  });
});
