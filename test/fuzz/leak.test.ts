import { Agent, createServer as createHttpServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import * as z from "zod";
import { createServer } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";
import { headersFor, message } from "../spec/http-entry.ts";

const REQUESTS = 10_000;
const AT_ONCE = 20;
const META = { progressToken: 1, "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

async function heap(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    gc();
  }
  return process.memoryUsage().heapUsed;
}

test(`case 3: ${REQUESTS} requests, half of them aborted, leave the heap flat`, { timeout: 300_000 }, async () => {
  const server = createServer({
    name: "test",
    version: "1.0.0",
    singleInstance: true,
    limits: { anonymousCallsPerMinute: Number.POSITIVE_INFINITY },
    trace: () => undefined,
  });
  server.tool("ask", { input: z.object({ n: z.number() }) }, async ({ n }, ctx) => {
    ctx.signal.addEventListener("abort", () => undefined);
    await new Promise<void>((resolve) => setTimeout(resolve, 1));
    ctx.progress(n + 1);
    await ctx.elicit("name", { message: "Name?", schema: z.object({ name: z.string() }) });
    return "";
  });
  const http = createHttpServer(nodeHandler(server));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  const post = (n: number): Promise<void> =>
    new Promise((resolve) => {
      const body = message("tools/call", { name: "ask", arguments: { n } }, META);
      const req = request({ port, method: "POST", agent, headers: headersFor(body) });
      req.on("close", () => resolve());
      req.on("error", () => undefined);
      req.on("response", (res) => {
        res.on("error", () => undefined);
        if (n % 4 === 1) res.destroy();
        else res.resume();
      });
      req.end(JSON.stringify(body), () => {
        if (n % 4 === 3) setImmediate(() => req.destroy());
      });
    });
  const many = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => post(n + i)));
    }
  };

  await many(1_000);
  const before = await heap();
  await many(REQUESTS);
  const after = await heap();
  agent.destroy();
  http.close();
  await server.close(0);
  expect((after - before) / 1024 / 1024).toBeLessThan(2);
});
