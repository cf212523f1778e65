// One identity: who is calling is read once, at the door, and is the same everywhere behind it.
import { PassThrough } from "node:stream";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, test } from "vitest";
import { createLegacyServer } from "../../src/bridge.ts";
import { createServer, type Principal, type Server, type ServerOptions, type TraceEvent } from "../../src/index.ts";
import { serveStdio } from "../../src/stdio.ts";
import { createPair } from "../../src/testing.ts";
import { type Entry, entries, message } from "./http-entry.ts";

const A_PRINCIPAL =
  '{ type: "user", issuer, subject } (and perhaps tenant), strings that are not empty, or { type: "anonymous" }';
const user = { type: "user", issuer: "https://id.example", subject: "alice" } as const;

/** What is given for a principal, as JavaScript lets it be, and how the operator is told. */
const impostors: readonly (readonly [given: unknown, told: string])[] = [
  [true, "a boolean"],
  ["alice", "a string"],
  [{}, "an object whose `type` is missing"],
  [{ id: "alice" }, "an object whose `type` is missing"],
  [{ issuer: user.issuer, subject: "alice" }, "an object whose `type` is missing"],
  [{ ...user, subject: 5 }, "an object whose `subject` is a number"],
  [{ ...user, type: "admin" }, 'an object whose `type` is neither "user" nor "anonymous"'],
  [{ ...user, issuer: undefined }, "an object whose `issuer` is missing"],
  [{ ...user, issuer: "" }, "an object whose `issuer` is an empty string"],
  [{ ...user, subject: "\ud800" }, "an object whose `subject` is a string with half a surrogate pair"],
  [{ ...user, tenant: null }, "an object whose `tenant` is null"],
  [["user", user.issuer, "alice"], "an array"],
];

const spelled = (given: unknown): Principal => given as Principal;
const faults: unknown[] = [];
const trace = (event: TraceEvent): void => {
  if (event.type === "fault") faults.push([event.target, (event.error as Error).message]);
};
const told = (by: string, what: string): [string, string] => [
  by,
  `\`${by}\` gave ${what}, which is no principal: one is ${A_PRINCIPAL}.`,
];
let ran = 0;

function service(options: Partial<ServerOptions> = {}): Server {
  faults.length = 0;
  ran = 0;
  const server = createServer({ name: "test", version: "1.0.0", singleInstance: true, trace, ...options });
  server.tool("who", {}, (_args, ctx) => {
    ran++;
    return JSON.stringify(ctx.principal);
  });
  let charged = 0;
  server.tool("charge", {}, async (_args, ctx) =>
    String(await ctx.once("charge", { key: "order-1", keepFor: 60_000 }, () => ++charged)),
  );
  return server;
}

const who = message("tools/call", { name: "who" });
const charge = message("tools/call", { name: "charge" });

describe.each(entries)("over %s", (_name, open) => {
  let entry: Entry;
  afterEach(() => entry.close());

  test.each(impostors)("case 58, attack 7: `authenticate` that gives %j refuses the caller", async (given, what) => {
    entry = await open(service({ authenticate: () => spelled(given) }));
    const answer = await entry.send({ body: who });
    expect([answer.status, answer.json.error.message]).toEqual([401, "Authentication is required."]);
    expect(ran).toBe(0);
    expect(faults).toEqual([told("authenticate", what)]);
  });

  test.each([undefined, null, false, ""])("nobody said as %j is refused without a fault", async (given) => {
    entry = await open(service({ authenticate: async () => spelled(given) }));
    expect((await entry.send({ body: who })).status).toBe(401);
    expect(faults).toEqual([]);
  });

  test("attack 7, S8: the order of fields and what lies beside them make no other caller, in `once` and in what handlers see", async () => {
    const spellings = [
      user,
      { subject: "alice", issuer: user.issuer, type: "user" },
      { ...user, exp: 12345, tenant: undefined },
      Object.assign(Object.create({ subject: "alice" }), { issuer: user.issuer, type: "user" }),
    ];
    let next = 0;
    entry = await open(service({ authenticate: () => spelled(spellings[next]) }));
    for (; next < spellings.length; next++) {
      expect((await entry.send({ body: charge })).json.result.content[0].text).toBe("1");
      expect(JSON.parse((await entry.send({ body: who })).json.result.content[0].text)).toEqual(user);
    }
  });

  test("attack 7: anonymous callers are one, whatever lies beside their type", async () => {
    let next = 0;
    entry = await open(service({ authenticate: () => spelled({ type: "anonymous", ip: `10.0.0.${next++}` }) }));
    for (let call = 0; call < 2; call++) {
      expect((await entry.send({ body: charge })).json.result.content[0].text).toBe("1");
    }
    expect((await entry.send({ body: who })).json.result.content[0].text).toBe('{"type":"anonymous"}');
  });

  test("case 58: what one caller is asked, another does not finish", async () => {
    let caller: unknown = { type: "user", issuer: "i", subject: "alice" };
    const server = service({ authenticate: () => spelled(caller) });
    server.tool("ask", {}, async (_args, ctx) => ((await ctx.confirm("sure", "Sure?")) ? "did" : "kept"));
    entry = await open(server);
    const can = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    const asked = await entry.send({ body: message("tools/call", { name: "ask" }, can) });
    const { requestState } = asked.json.result;
    caller = { type: "user", issuer: "i", subject: "bob" };
    const inputResponses = { sure: { action: "accept", content: { confirm: true } } };
    const body = message("tools/call", { name: "ask", requestState, inputResponses }, can);
    expect((await entry.send({ body })).json.error.data).toEqual({ reason: "state_refused" });
    caller = { type: "user", subject: "alice", issuer: "i", scope: "all" };
    expect((await entry.send({ body })).json.result.content[0].text).toBe("did");
  });
});

describe("in sessions of older clients", () => {
  async function connect(principal: () => unknown, server = service()): Promise<Client> {
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() });
    await createLegacyServer(server, { principal: () => spelled(principal()) }).connect(transport);
    const client = new Client({ name: "older", version: "1.0.0" });
    await client.connect(
      new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
        fetch: (url, init) => transport.handleRequest(new Request(url, init as RequestInit)),
      }),
    );
    return client;
  }
  const refused = { code: -32600, message: expect.stringMatching(/Authentication is required\.$/) };

  test.each(impostors)("case 58, attack 7: `principal` that gives %j refuses the caller", async (given, what) => {
    const client = await connect(() => given);
    await expect(client.callTool({ name: "who" })).rejects.toMatchObject(refused);
    expect(ran).toBe(0);
    expect(faults).toEqual([told("principal", what)]);
    await client.close();
  });

  test("a `principal` that throws refuses, and only the operator hears why", async () => {
    const client = await connect(() => {
      throw new Error("token expired at ...");
    });
    await expect(client.callTool({ name: "who" })).rejects.toMatchObject(refused);
    expect(faults).toEqual([["principal", "token expired at ..."]]);
    await client.close();
  });

  test("attack 7: `authenticate` and `principal` may spell one caller differently", async () => {
    const server = service({ authenticate: () => user });
    const client = await connect(() => ({ sub: 1, subject: "alice", type: "user", issuer: user.issuer }), server);
    const entry = await entries[1]?.[1](server);
    expect((await entry?.send({ body: charge }))?.json.result.content[0].text).toBe("1");
    expect(await client.callTool({ name: "charge" })).toMatchObject({ content: [{ text: "1" }] });
    await client.close();
  });
});

test("attack 7: over stdio and in memory what is no principal is refused when it is given", async () => {
  const half = spelled({ issuer: "i", subject: "alice" });
  const refusal = { code: "invalid_options", message: expect.stringContaining("an object whose `type` is missing") };
  const streams = { input: new PassThrough(), output: new PassThrough() };
  await expect(serveStdio(service(), { ...streams, principal: half })).rejects.toMatchObject(refusal);
  await expect(async () => await createPair(service(), { principal: half })).rejects.toMatchObject(refusal);
});
