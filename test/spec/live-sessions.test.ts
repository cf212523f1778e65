// Clients of 2025-11-25, which are asked while their call stays open: the official client against our server.
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client, type ElicitRequestFormParams, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { type AuthInfo, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { serveBoth } from "../../examples/older-clients/both.ts";
import { devNode } from "../../scripts/listening.ts";
import { root } from "../../scripts/run.ts";
import { createLegacyServer } from "../../src/bridge.ts";
import { connect } from "../../src/client.ts";
import { type Context, createServer, type Server, type ServerOptions } from "../../src/index.ts";
import { createPair } from "../../src/testing.ts";
import { hasSqlite, rig } from "../unit/tasks/harness.ts";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

const Size = z.object({ size: z.enum(["S", "M", "L"]) });
const Gift = z.object({ wrapped: z.boolean() });
type Answer = { action: "accept" | "decline" | "cancel"; content?: Record<string, string | boolean> };
const ANSWERS: Readonly<Record<string, Answer>> = {
  size: { action: "accept", content: { size: "M" } },
  wrapped: { action: "accept", content: { wrapped: true } },
};

/** Two questions, a step before and an effect after them. */
function shop(): { order: (args: { item: string }, ctx: Context) => Promise<string>; log: string[] } {
  const log: string[] = [];
  const order = async ({ item }: { item: string }, ctx: Context): Promise<string> => {
    const price = await ctx.step("price", () => {
      log.push("priced");
      return 20;
    });
    const { size } = await ctx.elicit("size", { message: `Which size of ${item}?`, schema: Size });
    const { wrapped } = await ctx.elicit("gift", { message: "As a gift?", schema: Gift });
    await ctx.once("charge", () => {
      log.push("charged");
    });
    return `One ${item} in ${size} for ${price}, ${wrapped ? "wrapped" : "plain"}.`;
  };
  return { order, log };
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function server(options: Partial<ServerOptions> = {}): Server {
  const made = createServer({
    name: "shop",
    version: "1.0.0",
    singleInstance: true,
    trace: () => undefined,
    ...options,
  });
  closers.push(() => made.close(0));
  return made;
}

async function listen(served: Server): Promise<URL> {
  const both = serveBoth(served);
  const handle = toNodeHandler(both);
  const http = createHttpServer((request, response) => void handle(request as Parameters<typeof handle>[0], response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    await both.close();
    http.closeAllConnections();
    http.close();
  });
  return new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
}

/** An official client as of 2025-11-25 whose person gives these answers, by the first field of the form. */
function older(answers: typeof ANSWERS | undefined = ANSWERS): { client: Client; asked: ElicitRequestFormParams[] } {
  const asked: ElicitRequestFormParams[] = [];
  const capabilities = answers === undefined ? {} : { elicitation: {} };
  const client = new Client({ name: "older", version: "1.0.0" }, { capabilities });
  if (answers !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      if (params.mode === "url") throw new Error("no pages");
      asked.push(params);
      return answers[Object.keys(params.requestedSchema.properties)[0] ?? ""] ?? { action: "cancel" };
    });
  }
  closers.push(() => client.close());
  return { client, asked };
}

async function overHttp(served: Server, answers?: typeof ANSWERS) {
  const transport = new StreamableHTTPClientTransport(await listen(served));
  const peer = older(answers);
  await peer.client.connect(transport);
  expect(peer.client.getNegotiatedProtocolVersion()).toBe("2025-11-25");
  return { ...peer, transport };
}

const text = (says: string) => ({ content: [{ type: "text", text: says }] });

describe("a call of an older client", () => {
  test("X1, V2: two questions, a step and an effect, in the older shape", async () => {
    const { order, log } = shop();
    const served = server();
    served.tool("order", { input: z.object({ item: z.string() }) }, order);
    const { client, asked } = await overHttp(served);
    expect(client.getServerVersion()).toEqual({ name: "shop", version: "1.0.0" });
    expect(await client.request({ method: "tools/list" })).toEqual({
      tools: [
        {
          name: "order",
          inputSchema: expect.objectContaining({ type: "object", properties: { item: { type: "string" } } }),
        },
      ],
    });
    const result = await client.callTool({ name: "order", arguments: { item: "shirt" } });
    expect(result).toEqual(text("One shirt in M for 20, wrapped."));
    expect(log).toEqual(["priced", "charged"]);
    expect(asked.map(({ message }) => message)).toEqual(["Which size of shirt?", "As a gift?"]);
  });

  test("X2, V2: what is asked together is asked at once", async () => {
    const served = server();
    served.tool("both", {}, async (_args, ctx) => {
      const [{ size }, { wrapped }] = await Promise.all([
        ctx.elicit("size", { message: "Size?", schema: Size }),
        ctx.elicit("gift", { message: "Gift?", schema: Gift }),
      ]);
      return `${size} ${wrapped} in round ${ctx.round}`;
    });
    const { client } = await overHttp(served);
    expect(await client.callTool({ name: "both" })).toEqual(text("M true in round 2"));
  });

  test("V2: over stdio, with the README's server", async () => {
    const { client, asked } = older({
      resolution: { action: "accept", content: { resolution: "Duplicate" } },
      id: { action: "accept", content: { id: 4519 as never } },
      confirm: { action: "accept", content: { confirm: true } },
    });
    const args = [`${root}examples/older-clients/main.ts`, "--stdio"];
    await client.connect(new StdioClientTransport({ command: devNode, args, stderr: "ignore" }));
    const result = await client.callTool({ name: "resolve_bug", arguments: { id: 4522 } });
    expect(asked).toHaveLength(3);
    expect(result).toEqual(text("#4522 closed as Duplicate."));
  });

  test("V2: an answer that does not fit is asked for again, with the reason", async () => {
    const { order } = shop();
    const served = server();
    served.tool("order", { input: z.object({ item: z.string() }) }, order);
    const { client, asked } = await overHttp(served, {
      ...ANSWERS,
      size: { action: "accept", content: { size: "XL" } },
    });
    const result = await client.callTool({ name: "order", arguments: { item: "shirt" } });
    expect(result.isError).toBe(true);
    expect(asked.length).toBeGreaterThan(1);
    expect(asked[1]?.message).toContain("Which size of shirt?");
    expect(asked[1]?.message).not.toBe("Which size of shirt?");
  });

  test.each([
    ["decline", "declined"],
    ["cancel", "dismissed"],
  ] as const)("V2: %s ends the call with one sentence", async (action, word) => {
    const { order, log } = shop();
    const served = server();
    served.tool("order", { input: z.object({ item: z.string() }) }, order);
    const { client } = await overHttp(served, { ...ANSWERS, wrapped: { action } });
    const result = await client.callTool({ name: "order", arguments: { item: "shirt" } });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(word) }] });
    expect(log).toEqual(["priced"]);
  });

  test("V2, S6: a question that the client cannot be asked is a tool's error, or a prompt's", async () => {
    const { order, log } = shop();
    const served = server();
    served.tool("order", { input: z.object({ item: z.string() }) }, order);
    served.prompt("greet", {}, async (_args, ctx) => {
      await ctx.elicit("size", { message: "Size?", schema: Size });
      return "Hello.";
    });
    const peer = older({});
    const { client } = peer;
    const plain = new Client({ name: "older", version: "1.0.0" });
    closers.push(() => plain.close());
    const url = await listen(served);
    await client.connect(new StreamableHTTPClientTransport(url));
    await plain.connect(new StreamableHTTPClientTransport(url));
    expect(await plain.callTool({ name: "order", arguments: { item: "shirt" } })).toEqual({
      isError: true,
      ...text(
        'This request needs input that the client does not declare it can give: the question "size" needs ' +
          "elicitation.form: give `connect` of volley-mcp/client a `form` handler.",
      ),
    });
    await expect(plain.getPrompt({ name: "greet" })).rejects.toMatchObject({
      code: -32021,
      message: expect.stringContaining("does not declare"),
    });
    expect(log).toEqual(["priced"]);
  });

  test("V2: a handler that changes its arguments gets them anew in every round", async () => {
    const served = server();
    served.tool("push", { input: z.object({ items: z.array(z.string()) }).loose() }, async ({ items }, ctx) => {
      items.push("more");
      await ctx.elicit("size", { message: "Size?", schema: Size });
      return items.join(" ");
    });
    const { client } = await overHttp(served);
    expect(await client.callTool({ name: "push", arguments: { items: ["one"] } })).toEqual(text("one more"));
  });

  test("S7, V2: a state that an older client makes up is refused", async () => {
    const { order } = shop();
    const served = server();
    served.tool("order", { input: z.object({ item: z.string() }) }, order);
    const { client, asked } = await overHttp(served);
    const params = { name: "order", arguments: { item: "shirt" }, requestState: "v1.AAAAAAAA.AAAA" };
    await expect(client.request({ method: "tools/call", params })).rejects.toMatchObject({ code: -32602 });
    expect(asked).toEqual([]);
  });

  test("V2: results that are no objects are wrapped as their listed schema is", async () => {
    const served = server();
    served.tool("sizes", { output: z.array(z.string()) }, () => ["S", "M"]);
    const { client } = await overHttp(served);
    const { tools } = await client.listTools();
    expect(tools[0]?.outputSchema).toMatchObject({ type: "object", required: ["result"] });
    expect((await client.callTool({ name: "sizes" })).structuredContent).toEqual({ result: ["S", "M"] });
  });

  test("V2: toTask is what it is in a request: refused with -32021, or inline", async () => {
    await using on = await rig(
      (served) => {
        served.tool("strict", {}, async (_args, ctx) => {
          await ctx.toTask();
        });
        served.tool("lenient", {}, async (_args, ctx) => {
          await ctx.toTask({ fallback: "inline" });
          return "Done here.";
        });
      },
      { worker: false, server: { audience: "https://shop.example/mcp" } },
    );
    const { client } = await overHttp(on.server);
    await expect(client.callTool({ name: "strict" })).rejects.toMatchObject({ code: -32021 });
    expect(await client.callTool({ name: "lenient" })).toEqual(text("Done here."));
  });

  test("V2: progress rises over the rounds of a call, and logs follow logging/setLevel", async () => {
    const served = server();
    served.tool("work", {}, async (_args, ctx) => {
      ctx.log("debug", "begun");
      ctx.progress(1, 3);
      await ctx.elicit("size", { message: "Size?", schema: Size });
      ctx.log("warning", "sized");
      ctx.progress(2, 3);
      ctx.progress(3, 3);
      await new Promise((resolve) => setTimeout(resolve, 50)); // the SDK drops progress that it reads with the result
    });
    const { client } = await overHttp(served);
    const logs: unknown[] = [];
    client.setNotificationHandler("notifications/message", ({ params }) => void logs.push(params));
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void seen.push(progress);
    await client.callTool({ name: "work" }, { onprogress });
    expect(seen).toEqual([1, 2, 3]);
    expect(logs).toEqual([{ level: "warning", data: "sized" }]);
    await client.setLoggingLevel("error");
    await client.callTool({ name: "work" });
    expect(logs).toHaveLength(1);
  });

  test("X5, V2: over HTTP once refuses a record that other processes do not see", async () => {
    const { order, log } = shop();
    const served = createServer({ name: "shop", version: "1.0.0", errors: "show", trace: () => undefined });
    served.tool("order", { input: z.object({ item: z.string() }) }, order);
    const { client } = await overHttp(served);
    const result = await client.callTool({ name: "order", arguments: { item: "shirt" } });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("`ledger`") }] });
    expect(log).toEqual(["priced"]);
  });
});

describe("a session's subscriptions", () => {
  test("V2: changes of lists and of subscribed resources are told, until the session ends", async () => {
    const served = server({ limits: { streams: 1 } });
    served.tool("a", {}, () => "");
    served.resource("r", "shop://r", {}, () => "r");
    for (let session = 0; session < 3; session++) {
      const { client, transport } = await overHttp(served);
      const heard: string[] = [];
      client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("tools"));
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
      await client.subscribeResource({ uri: "shop://r" });
      await client.subscribeResource({ uri: "shop://r" });
      served.resourceUpdated("shop://r");
      served.resourceUpdated("shop://other");
      served.toolsChanged();
      await vi.waitFor(() => expect(heard).toEqual(["shop://r", "tools"]));
      await client.unsubscribeResource({ uri: "shop://r" });
      served.resourceUpdated("shop://r");
      served.toolsChanged();
      await vi.waitFor(() => expect(heard).toEqual(["shop://r", "tools", "tools"]));
      // One stream a session, and one in all: the next session would find none.
      await transport.terminateSession();
    }
  });
});

describe("a client that goes away", () => {
  test("X4: a closed session reaches ctx.signal", async () => {
    const reasons: string[] = [];
    const served = server({ limits: { inFlight: 1 } });
    let working = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      working = resolve;
    });
    served.tool("wait", {}, async (_args, ctx) => {
      working();
      await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve(), { once: true }));
      reasons.push(ctx.signal.reason.message);
    });
    const { client, transport } = await overHttp(served);
    const call = client.callTool({ name: "wait" }).catch(() => undefined);
    await begun;
    await transport.terminateSession();
    await vi.waitFor(() => expect(reasons).toEqual(["The client cancelled the request or went away."]));
    await client.close();
    await call;
  });

  test("X4: over stdio, the end of its pipe does", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "volley-session-")), "notes");
    const { client } = older();
    const args = [`${root}test/spec/live-session-server.ts`, file];
    await client.connect(new StdioClientTransport({ command: devNode, args, stderr: "ignore" }));
    const call = client.callTool({ name: "wait" }).catch(() => undefined);
    await vi.waitFor(() => expect(readFileSync(file, "utf8")).toBe("working\n"), { timeout: 5_000 });
    await client.close();
    await call;
    await vi.waitFor(() =>
      expect(readFileSync(file, "utf8")).toBe("working\nThe client cancelled the request or went away.\n"),
    );
  });

  test("X4: in the middle of a question leaves nothing in memory", async () => {
    const served = server({ limits: { inFlight: 1, streams: 1 } });
    const runs: WeakRef<object>[] = [];
    served.tool("ask", {}, async (_args, ctx) => {
      const held = { journal: "x".repeat(1_000) };
      runs.push(new WeakRef(held), new WeakRef(ctx));
      await ctx.elicit("size", { message: "Size?", schema: Size });
      return held.journal;
    });
    const url = await listen(served);
    for (let session = 1; session <= 3; session++) {
      const client = new Client({ name: "older", version: "1.0.0" }, { capabilities: { elicitation: {} } });
      const asked = new Promise<void>((resolve) => {
        client.setRequestHandler("elicitation/create", () => {
          resolve();
          return new Promise<never>(() => undefined);
        });
      });
      const transport = new StreamableHTTPClientTransport(url);
      await client.connect(transport);
      const call = client.callTool({ name: "ask" }).catch(() => undefined);
      await asked;
      await transport.terminateSession();
      await client.close();
      await call;
      expect(runs).toHaveLength(2 * session); // nobody played another round
    }
    await vi.waitFor(
      () => {
        gc();
        expect(runs.map((run) => run.deref()).filter(Boolean)).toEqual([]);
      },
      { timeout: 5_000 },
    );
  });
});

describe("who is calling", () => {
  const alice = { type: "user", issuer: "https://id.example", subject: "alice" } as const;

  async function overFetch(served: Server, auth: AuthInfo | undefined): Promise<Client> {
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() });
    await createLegacyServer(served, {
      principal: (given) => (given?.extra?.sub === "alice" ? alice : undefined),
    }).connect(transport);
    const client = new Client({ name: "older", version: "1.0.0" });
    closers.push(() => client.close());
    await client.connect(
      new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
        fetch: (url, init) =>
          transport.handleRequest(new Request(url, init as RequestInit), auth === undefined ? {} : { authInfo: auth }),
      }),
    );
    return client;
  }

  test("V2: is said by the author's `principal`, or nobody is served", async () => {
    const served = server({ authenticate: () => alice });
    served.tool("me", {}, (_args, ctx) => (ctx.principal.type === "user" ? ctx.principal.subject : "nobody"));
    expect(() => createLegacyServer(served)).toThrow(
      expect.objectContaining({ code: "invalid_options", message: expect.stringContaining("`principal`") }),
    );
    expect(() => createLegacyServer(server(), { answerTimeoutMs: 0 })).toThrow("answerTimeoutMs");
    const known = await overFetch(served, { token: "t", clientId: "c", scopes: [], extra: { sub: "alice" } });
    expect(await known.callTool({ name: "me" })).toEqual(text("alice"));
    const unknown = await overFetch(served, undefined);
    await expect(unknown.callTool({ name: "me" })).rejects.toMatchObject({
      code: -32600,
      message: expect.stringContaining("Authentication is required."),
    });
  });
});

test.skipIf(!hasSqlite)(
  "X4: one handler, its journal with the client, in a durable task, in a live session",
  async () => {
    const { order, log } = shop();
    await using on = await rig(
      (served) => void served.tool("order", { task: "optional", input: z.object({ item: z.string() }) }, order),
      { server: { singleInstance: true, audience: "https://shop.example/mcp" } },
    );
    const form = ({ fields }: { fields: readonly { name: string }[] }) => ANSWERS[fields[0]?.name ?? ""] as never;
    const said = text("One shirt in M for 20, wrapped.");

    const carried = await createPair(on.server, { form, tasks: false });
    expect(await carried.callTool("order", { item: "shirt" })).toMatchObject(said);

    const tasks: string[] = [];
    const followed = await createPair(on.server, { form });
    const onTask = ({ status }: { status: string }): void => void tasks.push(status);
    expect(await followed.callTool("order", { item: "shirt" }, { onTask })).toMatchObject(said);
    expect(tasks.at(-1)).toBe("completed");

    const { client, asked } = await overHttp(on.server);
    expect(await client.callTool({ name: "order", arguments: { item: "shirt" } })).toEqual(said);
    expect(asked).toHaveLength(2);

    expect(log).toEqual(["priced", "charged", "priced", "charged", "priced", "charged"]);
    await Promise.all([carried.close(), followed.close()]);
  },
);

test("V2: a client of today at the same address", async () => {
  const { order } = shop();
  const served = server();
  served.tool("order", { input: z.object({ item: z.string() }) }, order);
  const client = await connect(await listen(served), {
    form: ({ fields }) => ANSWERS[fields[0]?.name ?? ""] as never,
  });
  closers.push(() => client.close());
  expect(await client.callTool("order", { item: "shirt" })).toMatchObject(text("One shirt in M for 20, wrapped."));
});
