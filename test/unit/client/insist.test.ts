import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { retryAfterMs } from "../../../src/client/http-failure.ts";
import { type Client, connect } from "../../../src/client.ts";
import { openStream, type Script, sendJson, serve, text } from "./fixtures.ts";

const results: Record<string, unknown> = {
  "server/discover": { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} },
  "tools/list": { resultType: "complete", tools: [] },
  "prompts/list": { resultType: "complete", prompts: [] },
  "resources/list": { resultType: "complete", resources: [] },
  "resources/templates/list": { resultType: "complete", resourceTemplates: [] },
  "completion/complete": { resultType: "complete", completion: { values: ["a"] } },
  "tools/call": text("done"),
  "prompts/get": { resultType: "complete", messages: [] },
  "resources/read": { resultType: "complete", contents: [] },
  "example/any": { resultType: "complete" },
  "tasks/get": {
    resultType: "complete",
    taskId: "t",
    status: "working",
    createdAt: "2026-12-07T00:00:00Z",
    lastUpdatedAt: "2026-12-07T00:00:00Z",
  },
  "tasks/cancel": { resultType: "complete" },
};

const calls: [string, (client: Client) => Promise<unknown>][] = [
  ["server/discover", (client) => client.discover()],
  ["tools/list", (client) => client.listTools()],
  ["prompts/list", (client) => client.listPrompts()],
  ["resources/list", (client) => client.listResources()],
  ["resources/templates/list", (client) => client.listResourceTemplates()],
  ["completion/complete", (client) => client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" })],
  ["tools/call", (client) => client.callTool("work")],
  ["prompts/get", (client) => client.getPrompt("p")],
  ["resources/read", (client) => client.readResource("a:")],
  ["example/any", (client) => client.request("example/any")],
  ["tasks/get", (client) => client.task("t").get()],
  ["tasks/cancel", (client) => client.task("t").cancel()],
  ["subscriptions/listen", (client) => client.subscribe({ toolsListChanged: true }).next()],
];

const bare =
  (status: number, retryAfter?: string): Script =>
  (_seen, reply) =>
    void reply.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end();

const closing: Script = ({ id }, reply) =>
  sendJson(reply, 503, { jsonrpc: "2.0", id, error: { code: 50300, message: "The server is closing. Try again." } });

/** Refuses the first request of each method, then answers. */
function refusingOnce(refusal: Script): Script {
  const refused = new Set<string>();
  return (seen, reply) => {
    const { id, method } = seen;
    if (!refused.has(method)) {
      refused.add(method);
      return refusal(seen, reply);
    }
    if (method !== "subscriptions/listen") return results[method];
    openStream(reply).send({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { _meta: { "io.modelcontextprotocol/subscriptionId": id }, notifications: { toolsListChanged: true } },
    });
    return undefined;
  };
}

const refusals: [string, Script][] = [
  ["50300", closing],
  ["a bare 429 with Retry-After", bare(429, "0")],
  ["a bare 429", bare(429)],
  ["a bare 503 with Retry-After", bare(503, "0")],
];

describe.each(refusals)("attack 10: after %s", (_name, refusal) => {
  test.concurrent.each(calls)("%s is sent again", async (method, call) => {
    await using server = await serve(refusingOnce(refusal));
    const client = await connect(server.url);
    await call(client);
    const sent = server.of(method);
    expect(sent).toHaveLength(2);
    expect(sent[0]?.id).not.toBe(sent[1]?.id);
    await client.close();
  });
});

describe("attack 10: Retry-After", () => {
  test("is waited for", async () => {
    const times: number[] = [];
    await using server = await serve((seen, reply) => {
      times.push(performance.now());
      return times.length === 1 ? bare(429, "1")(seen, reply) : results["prompts/list"];
    });
    const client = await connect(server.url);
    expect(await client.listPrompts()).toEqual([]);
    expect((times[1] as number) - (times[0] as number)).toBeGreaterThan(990);
    await client.close();
  });

  test.each([429, 503])("of more than the call may wait ends it at once with HTTP %i", async (status) => {
    await using server = await serve(bare(status, "2"));
    const client = await connect(server.url);
    await expect(client.listPrompts({ timeoutMs: 1_500 })).rejects.toMatchObject({
      code: "connection_failed",
      cause: { status, retryAfter: "2" },
    });
    expect(server.seen).toHaveLength(1);
    await client.close();
  });

  test("is waited for all in all no longer than timeoutMs", async () => {
    await using server = await serve(bare(429, "1"));
    const client = await connect(server.url);
    await expect(client.listPrompts({ timeoutMs: 2_500 })).rejects.toMatchObject({ cause: { status: 429 } });
    expect(server.seen.length).toBeGreaterThanOrEqual(2);
    expect(server.seen.length).toBeLessThanOrEqual(3);
    await client.close();
  });

  test("is not waited for by whom nobody waits for", async () => {
    await using server = await serve(bare(429, "30"));
    const client = await connect(server.url);
    const waiting = client.listPrompts();
    const given = client.listPrompts({ signal: AbortSignal.timeout(100) });
    await expect(given).rejects.toMatchObject({ code: "aborted" });
    await client.close();
    await expect(waiting).rejects.toMatchObject({ code: "closed" });
  });

  test("is read in seconds and as a date", () => {
    expect(retryAfterMs("120")).toBe(120_000);
    expect(retryAfterMs(new Date(Date.now() - 60_000).toUTCString())).toBe(0);
    expect(retryAfterMs(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(58_000);
    expect(retryAfterMs("soon")).toBeUndefined();
    expect(retryAfterMs(undefined)).toBeUndefined();
  });
});

describe("what may have been done is not sent again", () => {
  const unclear: [string, Script, number][] = [
    ["a bare 503", bare(503), 503],
    ["502", bare(502), 502],
    ["504", bare(504, "1"), 504],
  ];
  test.each(unclear)("after %s", async (_name, script, status) => {
    await using server = await serve((seen, reply) =>
      seen.method === "tools/call" ? script(seen, reply) : results[seen.method],
    );
    const client = await connect(server.url);
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "connection_failed", cause: { status } });
    expect(server.of("tools/call")).toHaveLength(1);
    await client.close();
  });

  test("after a broken connection", async () => {
    await using server = await serve(({ method }, reply) =>
      method === "tools/call" ? void reply.destroy() : results[method],
    );
    const client = await connect(server.url);
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "connection_failed" });
    expect(server.of("tools/call")).toHaveLength(1);
    await client.close();
  });

  test("reading is, after a bare 503", async () => {
    await using server = await serve(refusingOnce(bare(503)));
    const client = await connect(server.url);
    expect(await client.listPrompts()).toEqual([]);
    await client.close();
  });
});

test.each([
  ["node:http", {}],
  ["fetch", { fetch: (url: string, init: RequestInit) => fetch(url, init) }],
])("attack 11: a call that found nobody there is sent again, by %s", async (_name, options) => {
  const port = await new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port: free } = probe.address() as { port: number };
      probe.close(() => resolve(free));
    });
  });
  const client = await connect(`http://localhost:${port}/mcp`, options);
  const call = client.callTool("work");
  await new Promise((resolve) => setTimeout(resolve, 600));
  await using _server = await serve(({ method }) => results[method], port);
  expect(await call).toEqual(text("done"));
  await client.close();
});
