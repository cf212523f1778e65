import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { connect } from "../../src/client.ts";
import { createServer, type Server } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function hanging(): Server {
  const server = createServer({ name: "hanging", version: "1.0.0", singleInstance: true, limits: { inFlight: 2 } });
  server.tool("hang", {}, async () => new Promise<string>(() => {}));
  server.tool("short", { roundTimeoutMs: 50 }, async () => new Promise<string>(() => {}));
  server.tool("plain", {}, async () => "fine");
  return server;
}

const overNode = async (): Promise<string> => {
  const http = createHttpServer(nodeHandler(hanging()));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
};

type Target = Parameters<typeof connect>;

describe.each<[string, () => Promise<Target>]>([
  ["node:http", async () => [await overNode()]],
  [
    "fetch",
    async () => {
      const server = hanging();
      const aborted = (request: Request): Promise<never> =>
        new Promise((_resolve, reject) => {
          request.signal.addEventListener("abort", () => reject(request.signal.reason));
        });
      const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
        const request = new Request(input, init);
        return Promise.race([server.fetch(request), aborted(request)]);
      };
      return ["http://localhost/mcp", { fetch }];
    },
  ],
])("limits.inFlight over %s", (_name, open) => {
  test("attack 8, S23: a client that has gone gives its place back, whatever its handler does", async () => {
    const client = await connect(...(await open()));
    ends.push(() => client.close());
    const leaving = new AbortController();
    const left = [1, 2].map(() => client.callTool("hang", {}, { signal: leaving.signal }).catch(() => "left"));
    const now = { timeoutMs: 200 };
    await vi.waitFor(() => expect(client.callTool("plain", {}, now)).rejects.toMatchObject({ code: 42900 }), 5_000);
    leaving.abort();
    expect(await Promise.all(left)).toEqual(["left", "left"]);
    await vi.waitFor(async () => {
      expect((await client.callTool("plain")).content).toEqual([{ type: "text", text: "fine" }]);
    }, 5_000);
  });

  test("attack 8: a round that is over gives its place back", async () => {
    const client = await connect(...(await open()));
    ends.push(() => client.close());
    const results = await Promise.all([client.callTool("short"), client.callTool("short")]);
    expect(results.map(({ isError }) => isError)).toEqual([true, true]);
    expect((await client.callTool("plain")).content).toEqual([{ type: "text", text: "fine" }]);
  });
});
