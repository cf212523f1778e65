// One instance of a service, as a process of its own: `node --expose-gc story-server.ts old|new`. The old one is busy.
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as z from "zod";
import { type Context, createServer, type Ledger } from "../../src/index.ts";
import { createMemoryLedger } from "../../src/ledger/memory.ts";
import { nodeHandler } from "../../src/node.ts";

const isOld = process.argv[2] === "old";

let ledgerCalls = 0;
const ledger = new Proxy(createMemoryLedger(), {
  get(target, key) {
    ledgerCalls++;
    return Reflect.get(target, key, target);
  },
}) satisfies Ledger;

// The same on all instances: what one has sealed the others open.
const server = createServer({ name: "story", version: "1.0.0", audience: "https://story.example/mcp", ledger });
const Login = z.object({ name: z.string() });
const login = (ctx: Context, site: string): Promise<{ name: string }> =>
  ctx.elicit(`${site}_login`, { message: `Please provide your ${site} username`, schema: Login });

if (isOld) {
  server.tool("link_accounts", { version: 1 }, async (_args, ctx) => {
    const [github, google] = await Promise.all([login(ctx, "github"), login(ctx, "google")]);
    return `old: ${github.name}, ${google.name}`;
  });
} else {
  server.tool("link_accounts", { version: 2 }, async (_args, ctx) => {
    const [github, microsoft] = await Promise.all([login(ctx, "github"), login(ctx, "microsoft")]);
    return `new: ${github.name}, ${microsoft.name}`;
  });
}

server.tool("sum", { input: z.object({ upTo: z.int() }) }, async ({ upTo }, ctx) => {
  const first = await ctx.step("first half", () => ({ sum: sum(1, upTo / 2), by: process.pid }));
  if (isOld) await ctx.yield();
  const second = await ctx.step("second half", () => ({ sum: sum(upTo / 2 + 1, upTo), by: process.pid }));
  return JSON.stringify({ sum: first.sum + second.sum, by: [first.by, second.by], round: ctx.round });
});

server.tool("ask", {}, async (_args, ctx) => {
  const { name } = await login(ctx, "github");
  await ctx.once("greet", () => "done");
  return name;
});
server.tool("held", {}, () => {
  for (let i = 0; i < 3; i++) globalThis.gc?.();
  return JSON.stringify({ heap: process.memoryUsage().heapUsed, ledgerCalls });
});

function sum(from: number, to: number): number {
  let total = 0;
  for (let i = from; i <= to; i++) total += i;
  return total;
}

const http = createHttpServer(nodeHandler(server));
http.listen(0, "127.0.0.1", () => {
  console.log(`listening http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
});
