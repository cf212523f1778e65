import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { z } from "zod";
import { createServer, type Server, type ServerOptions } from "../../../src/index.ts";
import { createKeyring, generateKey } from "../../../src/state.ts";
import { createFakeClock, type FakeClock } from "../../../src/testing/fake-clock.ts";
import { type Entry, message, openFetch } from "../../spec/http-entry.ts";
import { ask, ELICITATION } from "./harness.ts";

const KEYS = [generateKey(), generateKey()] as const;
const [KID_1, KID_2] = createKeyring(KEYS).kids;
const SCHEMA = z.object({ size: z.string() });
const ANSWER = { size: { action: "accept", content: { size: "M" } } };

let printed: MockInstance<typeof console.error>;
let clock: FakeClock;
beforeEach(() => {
  printed = vi.spyOn(console, "error").mockReturnValue(undefined);
  clock = createFakeClock();
});
afterEach(() => void vi.restoreAllMocks());

/** What was printed since it was last looked at. */
function lines(): string[] {
  const found = printed.mock.calls.map((args) => args.join(" "));
  printed.mockClear();
  return found;
}

/** A server in its default set-up, without a trace. */
function shop(options: Partial<ServerOptions> = {}): Server {
  const server = createServer({
    name: "shop",
    version: "1.0.0",
    keys: [KEYS[0]],
    audience: "https://shop.example/mcp",
    clock,
    ...options,
  });
  server.tool("order", {}, async (_args, ctx) => {
    const { size } = await ctx.elicit("size", { message: "Size?", schema: SCHEMA });
    return `Ordered ${size}.`;
  });
  return server;
}

const begin = async (server: Server, name = "order"): Promise<string> =>
  (await ask(server, "tools/call", { name }, ELICITATION)).result.requestState;
const goOn = (server: Server, requestState: string): Promise<unknown> =>
  ask(server, "tools/call", { name: "order", requestState, inputResponses: ANSWER }, ELICITATION);

test("rule 12, F8: a state that another key sealed is a line that names both keys and what to look at", async () => {
  const other = shop({ keys: [KEYS[1]] });
  const state = await begin(other);
  const server = shop();
  await goOn(server, state);
  const line =
    `[volley] order: a state was refused: it was sealed by key ${KID_2}, and this server has ${KID_1}. ` +
    "Do all instances have the same VOLLEY_KEYS?";
  expect(lines()).toEqual([line]);
  await goOn(server, state);
  await clock.advance(59_999);
  await goOn(server, state);
  expect(lines()).toEqual([]);
  await clock.advance(1);
  await goOn(server, state);
  expect(lines()).toEqual([line]);
});

test("rule 12: each kind has its own minute, and in development every one is told", async () => {
  const server = shop();
  const state = await begin(server);
  const stranger = shop({ audience: "https://other.example/mcp" });
  await goOn(stranger, state);
  await goOn(stranger, "nonsense");
  await goOn(stranger, state);
  expect(lines()).toEqual([
    "[volley] order: a state was refused: its key is this server's, but it was altered, or sealed for another caller, " +
      "tool, arguments or service. Do all instances have the same `audience`, and do callers come back as who they were?",
    "[volley] order: a state was refused: it is none that a server of this package sealed.",
  ]);
  const development = shop({ development: true });
  await goOn(development, "nonsense");
  await goOn(development, "nonsense");
  expect(lines()).toHaveLength(2);
});

test("rule 12: a state that has expired is told to its holder, and to the operator", async () => {
  const server = shop();
  const state = await begin(server);
  await clock.advance(600_000);
  expect(await goOn(server, state)).toMatchObject({
    error: {
      code: -32602,
      message:
        "The request state has expired: the answers came too late. Start again without requestState and inputResponses.",
      data: { reason: "state_expired" },
    },
  });
  expect(lines()).toEqual([
    "[volley] order: a state was refused: it has expired: the answers took longer than `ttlMs`.",
  ]);
  await clock.advance(3_000_000);
  await goOn(server, state);
  expect(lines()).toEqual(["[volley] order: a state was refused: its flow is over: it took longer than `flowMs`."]);
});

test("rule 12: a key id that is none, and line breaks in names, do not reach the operator's lines", async () => {
  const server = shop({ development: true });
  const state = await begin(server);
  await goOn(server, `v1.a\nb\u001b[2Jx.${state.slice(12)}`);
  expect(lines()).toEqual(["[volley] order: a state was refused: it is none that a server of this package sealed."]);
  server.resourceTemplate("item", "item://{id}", {}, () => {
    throw new Error("why");
  });
  await ask(server, "resources/read", { uri: "item://a\nb\u001b[2J\u2028" });
  for (const line of lines()) expect(line).not.toMatch(/[\p{C}\p{Zl}]/u);
});

test("rule 12, F1: an older client that is turned away is a line for the operator, who can let it in", async () => {
  const server = shop();
  for (let time = 0; time < 2; time++) {
    const http = await openFetch(server);
    const body = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } };
    const answer = await http.send({ body, headers: { "mcp-protocol-version": undefined, "mcp-method": undefined } });
    expect(answer.json.error.code).toBe(-32022);
  }
  expect(lines()).toEqual([
    "[volley] a client of 2025-06-18 was turned away: createLegacyServer of volley-mcp/bridge serves it.",
  ]);
});

test("rule 12: a host and an origin that are refused are told once each", async () => {
  const http = await openFetch(shop());
  const from = async (headers: Record<string, string>): ReturnType<Entry["send"]> => {
    const answer = await http.send({ body: message("tools/list"), headers });
    expect(answer.status).toBe(403);
    return answer;
  };
  await from({ host: "x" });
  await clock.advance(60_000);
  await from({ host: "x" });
  await from({ host: "mcp.example.com" });
  await from({ host: "localhost", origin: "https://chat.example" });
  await from({ host: "localhost", origin: "https://other.example" });
  expect(lines()).toEqual([
    '[volley] a request to the host "x" was refused: if this server is called so, name it in `allowedHosts`.',
    '[volley] a request to the host "mcp.example.com" was refused: if this server is called so, name it in `allowedHosts`.',
    '[volley] a page of "https://chat.example" was refused: if it may call this server, name it in `allowedOrigins`.',
  ]);
});

test("rule 12: a question that was asked four times is a line", async () => {
  const server = shop();
  let requestState = await begin(server);
  for (let round = 2; round <= 4; round++) {
    const { result } = await ask(
      server,
      "tools/call",
      { name: "order", requestState, inputResponses: {} },
      ELICITATION,
    );
    requestState = result.requestState;
    expect(lines()).toHaveLength(round === 4 ? 1 : 0);
  }
  printed.mockClear();
  const { result } = await ask(server, "tools/call", { name: "order", requestState, inputResponses: {} }, ELICITATION);
  expect(result.isError).toBe(true);
  expect(lines()).toEqual([]);
});

test.each([
  [true, 1],
  [false, 0],
])("rule 12: names that change are told to authors: in development %s, %i lines", async (development, count) => {
  const server = shop({ development });
  let round = 0;
  server.tool("change", {}, async (_args, ctx) => {
    round++;
    await ctx.step(`load${round}`, () => round);
    await ctx.elicit(`a0.${round}`, { message: "Name?", schema: SCHEMA });
  });
  const requestState = await begin(server, "change");
  const inputResponses = { "a0.1": ANSWER.size };
  await ask(server, "tools/call", { name: "change", requestState, inputResponses }, ELICITATION);
  const line =
    '[volley] change: step "load1" was done and is not called any more; "a0.1" was answered and is not asked any more: ' +
    "names must be the same in each round.";
  expect(lines()).toEqual(count === 1 ? [line] : []);
});
