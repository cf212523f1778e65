import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createInstance } from "../../examples/operating/server.ts";
import { generateKey } from "../../src/state.ts";
import { startPostgres } from "../support/postgres.ts";
import { mayRun, type PrivateServer } from "../support/private-server.ts";
import { startRedis } from "../support/redis.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const withStores = mayRun("redis-server") && mayRun("initdb");

const stores: PrivateServer[] = [];
beforeAll(async () => {
  if (withStores) stores.push(await startRedis(), await startPostgres());
  vi.stubEnv("VOLLEY_KEYS", generateKey());
}, 60_000);
afterAll(async () => {
  vi.unstubAllEnvs();
  for (const store of stores) await store.remove();
});

test("the guide on operating shows its example", () => {
  const guide = readFileSync(`${root}docs/operating.md`, "utf8");
  const [block = ""] = /^```ts\n(.*?)^```/ms.exec(guide)?.slice(1) ?? [];
  const code = readFileSync(`${root}examples/operating/server.ts`, "utf8");
  expect(code.replace(/\s+/g, " ")).toContain(block.trim().replace(/\s+/g, " "));
});

test.runIf(withStores)("X3: a round that begins on one of the instances of the guide ends on the other", async () => {
  const [redis, postgres] = stores.map(({ url }) => url) as [string, string];
  const [one, two] = [await createInstance(redis, postgres), await createInstance(redis, postgres)];
  for (const server of [one, two]) {
    server.tool("ask", {}, async (_args, ctx) => ((await ctx.confirm("sure", "Sure?")) ? "yes" : "no"));
  }
  const post = async (fetch: (request: Request) => Promise<Response>, params: object): Promise<Response> =>
    await fetch(
      new Request("https://shop.example/mcp", {
        method: "POST",
        headers: {
          host: "shop.example",
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "ask",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: {
            name: "ask",
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
            },
            ...params,
          },
        }),
      }),
    );
  const first = await post(one.fetch, {});
  const { result } = await first.json();
  const { inputRequests, requestState } = result;
  const [key = ""] = Object.keys(inputRequests);
  const [field = ""] = Object.keys(inputRequests[key].params.requestedSchema.properties);
  const inputResponses = { [key]: { action: "accept", content: { [field]: true } } };
  const second = await post(two.fetch, { requestState, inputResponses });
  expect((await second.json()).result.content).toEqual([{ type: "text", text: "yes" }]);
  await Promise.all([one.close(0), two.close(0)]);
});
