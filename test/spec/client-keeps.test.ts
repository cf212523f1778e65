// What people have said is kept between a client and a server of this package, whatever lies between them.
import { expect, test } from "vitest";
import { z } from "zod";
import { connect, type Fetch, pendingOf } from "../../src/client.ts";
import { createServer, type Server } from "../../src/index.ts";
import { createMemoryLedger } from "../../src/ledger/memory.ts";
import { generateKey } from "../../src/state.ts";

const keys = [generateKey()];

function shop(): { server: Server; charges: string[] } {
  const charges: string[] = [];
  const server = createServer({
    name: "shop",
    version: "1.0.0",
    keys,
    audience: "https://shop.example",
    ledger: createMemoryLedger(),
    singleInstance: true,
  });
  server.tool("buy", { input: z.object({ item: z.string() }) }, async ({ item }, ctx) => {
    const { name } = await ctx.elicit("name", { message: "Who buys?", schema: z.object({ name: z.string() }) });
    await ctx.once("charge", () => {
      charges.push(`${item} for ${name}`);
      return null;
    });
    return `${item} for ${name}`;
  });
  return { server, charges };
}

test("attack 11: the reply to an answer is lost: the call goes on, nobody is asked again, and nothing is done twice", async () => {
  const { server, charges } = shop();
  let lost = 0;
  const fetch: Fetch = async (url, init) => {
    const response = await server.fetch(new Request(url, init));
    if (!String(init.body).includes("inputResponses") || lost++ > 0) return response;
    await response.text();
    throw new TypeError("terminated");
  };
  let asked = 0;
  const client = await connect("http://localhost/mcp", {
    fetch,
    form: () => {
      asked++;
      return { name: "Ann" };
    },
  });
  const error = await client.callTool("buy", { item: "tea" }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "connection_failed" });
  expect(charges).toEqual(["tea for Ann"]);
  const step = await client.resume(JSON.stringify(pendingOf(error))).continue();
  expect(step).toMatchObject({ done: true, result: { content: [{ type: "text", text: "tea for Ann" }] } });
  expect([charges, asked]).toEqual([["tea for Ann"], 1]);
  await client.close();
});

test("attack 10: a server that has too much to do is asked again when it says, whatever the method", async () => {
  const server = createServer({
    name: "busy",
    version: "1.0.0",
    keys,
    audience: "https://busy.example",
    limits: { inFlight: 1 },
  });
  let running = 0;
  server.tool("work", {}, async () => {
    running++;
    await new Promise((resolve) => setTimeout(resolve, 200));
    return `${running--} at once`;
  });
  const statuses: number[] = [];
  const fetch: Fetch = async (url, init) => {
    const response = await server.fetch(new Request(url, init));
    statuses.push(response.status);
    return response;
  };
  const client = await connect("http://localhost/mcp", { fetch });
  await client.listTools();
  const calls = [client.callTool("work"), client.callTool("work")];
  const [described, ...results] = await Promise.all([client.discover(), ...calls]);
  for (const result of results) expect(result.content).toEqual([{ type: "text", text: "1 at once" }]);
  expect(described.supportedVersions).toContain("2026-07-28");
  expect(statuses).toContain(429);
  await client.close();
});
