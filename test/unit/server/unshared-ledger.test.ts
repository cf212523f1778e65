import { expect, test } from "vitest";
import { createServer, type Ledger, type Server, type ServerOptions, type TraceEvent } from "../../../src/index.ts";
import { createMemoryLedger } from "../../../src/ledger/memory.ts";
import { generateKey } from "../../../src/state.ts";
import { message, openFetch } from "../../spec/http-entry.ts";
import { hasSqlite, rig } from "../tasks/harness.ts";
import { ask } from "./harness.ts";

interface Shop {
  readonly server: Server;
  readonly charged: string[];
  readonly events: TraceEvent[];
}

/** A server as one of many is set up: with a key and an audience. */
function shop(options: Partial<ServerOptions> = {}): Shop {
  const charged: string[] = [];
  const events: TraceEvent[] = [];
  const server = createServer({
    name: "shop",
    version: "1.0.0",
    keys: [generateKey()],
    audience: "https://shop.example/mcp",
    trace: (event) => void events.push(event),
    errors: "show",
    ...options,
  });
  server.tool("charge", {}, (_args, ctx) =>
    ctx.once("charge", { key: "order-1", keepFor: 1_000 }, () => {
      charged.push("order-1");
      return "charged";
    }),
  );
  server.tool("ask", { singleUse: true }, async (_args, ctx) => `sure: ${await ctx.confirm("sure", "Sure?")}`);
  return { server, charged, events };
}

const call = (params: object): object =>
  message(
    "tools/call",
    { arguments: {}, ...params },
    {
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    },
  );

test("X5: over HTTP `once` does nothing on a record that other processes do not see, and says what to decide", async () => {
  const { server, charged, events } = shop();
  const http = await openFetch(server);
  const { result } = (await http.send({ body: call({ name: "charge" }) })).json;
  expect(result.isError).toBe(true);
  expect(result.content[0].text).toMatch(/`ledger`.*`singleInstance: true`/);
  expect(charged).toEqual([]);
  expect(events.filter(({ type }) => type === "fault")).toMatchObject([{ error: { code: "invalid_options" } }]);
});

test("X5: `singleUse` is refused alike", async () => {
  const http = await openFetch(shop().server);
  const { requestState } = (await http.send({ body: call({ name: "ask" }) })).json.result;
  const inputResponses = { sure: { action: "accept", content: { confirm: true } } };
  const { result } = (await http.send({ body: call({ name: "ask", requestState, inputResponses }) })).json;
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/`ledger`/) }] });
});

const shared: Ledger = { ...createMemoryLedger(), shared: true };
test.each<[string, Partial<ServerOptions>]>([
  ["a ledger that processes share", { ledger: shared }],
  ["the word of the author that there is no other", { singleInstance: true }],
])("over HTTP `once` works with %s", async (_what, options) => {
  const { server, charged } = shop(options);
  const http = await openFetch(server);
  expect((await http.send({ body: call({ name: "charge" }) })).json.result.content[0].text).toBe("charged");
  expect(charged).toEqual(["order-1"]);
});

test("where nobody serves over HTTP, memory will do: a server over stdio is one process a client", async () => {
  const { server } = shop();
  const { result } = await ask(server, "tools/call", { name: "charge", arguments: {} });
  expect(result.content[0].text).toBe("charged");
});

test.runIf(hasSqlite)("X5: a worker is one of many too", async () => {
  await using on = await rig(
    (server) =>
      server.tool("pay", { task: "required" }, (_args, ctx) => ctx.once("pay", { key: "1", keepFor: 1 }, () => "paid")),
    { server: { errors: "show" } },
  );
  const { taskId } = await on.call("pay");
  expect((await on.until(taskId, "completed")).result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/`ledger`/) }],
  });
});
