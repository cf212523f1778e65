import { beforeEach, describe, expect, test, vi } from "vitest";
import { createEventBus, createServer, type Server } from "../../../src/index.ts";
import { type Core, coreOf } from "../../../src/server/index.ts";
import { message } from "../../spec/http-entry.ts";
import { MemoryCall } from "./memory-call.ts";

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const SERVER_INFO = "io.modelcontextprotocol/serverInfo";

let server: Server;
let core: Core;
beforeEach(() => {
  server = createServer({ name: "test", version: "1.0.0", singleInstance: true });
  server.tool("hello", {}, () => "Hello.");
  server.resource("a", "file:///a", {}, () => "a");
  core = coreOf(server);
  core.serving = true;
});

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
const listen = async (
  notifications: object,
  id: string | number = 7,
): Promise<{ call: MemoryCall; reply: Promise<string> }> => {
  const call = new MemoryCall();
  const body = { ...message("subscriptions/listen", { notifications }), id };
  const reply = Promise.resolve(core.handle(body, call)).then((answer) => answer.body as string);
  await turn();
  return { call, reply };
};

describe("subscriptions/listen", () => {
  test("H9: the acknowledgement comes first and names what is honoured", async () => {
    const { call } = await listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ["file:///a"],
    });
    expect(call.sent).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: {
          _meta: { [SUBSCRIPTION]: 7 },
          notifications: { toolsListChanged: true, resourceSubscriptions: ["file:///a"] },
        },
      },
    ]);
  });

  test("H9: all four filters are honoured, with the subscription's id on each message", async () => {
    server.prompt("p", {}, () => "p");
    const { call } = await listen(
      {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        resourceSubscriptions: ["file:///a"],
      },
      "s1",
    );
    server.toolsChanged();
    server.promptsChanged();
    server.resourcesChanged();
    server.resourceUpdated("file:///a");
    const _meta = { [SUBSCRIPTION]: "s1" };
    expect(call.sent.slice(1)).toEqual([
      { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { _meta } },
      { jsonrpc: "2.0", method: "notifications/prompts/list_changed", params: { _meta } },
      { jsonrpc: "2.0", method: "notifications/resources/list_changed", params: { _meta } },
      { jsonrpc: "2.0", method: "notifications/resources/updated", params: { _meta, uri: "file:///a" } },
    ]);
  });

  test("H9: nothing comes that was not asked for", async () => {
    const { call } = await listen({ resourceSubscriptions: ["file:///a", "__proto__"] });
    server.toolsChanged();
    server.resourcesChanged();
    server.resourceUpdated("file:///b");
    server.resourceUpdated("constructor");
    expect(call.sent).toHaveLength(1);
  });

  test("H9: a bus that may have missed events has each stream told of all that it watches, and of nothing else", async () => {
    const bus = createEventBus();
    server = createServer({ name: "test", version: "1.0.0", singleInstance: true, bus });
    server.tool("hello", {}, () => "Hello.");
    server.resource("a", "file:///a", {}, () => "a");
    core = coreOf(server);
    core.serving = true;
    const tools = await listen({ toolsListChanged: true });
    const both = await listen({ resourcesListChanged: true, resourceSubscriptions: ["file:///a"] });
    bus.publish({ type: "missed" });
    const heard = ({ call }: typeof tools): unknown[] =>
      call.sent.slice(1).map((sent) => (sent as { method: string }).method);
    expect(heard(tools)).toEqual(["notifications/tools/list_changed"]);
    expect(heard(both)).toEqual(["notifications/resources/list_changed", "notifications/resources/updated"]);
  });

  test("H9: registering and removing while serving notifies once for a burst", async () => {
    const { call } = await listen({ toolsListChanged: true });
    const added = server.tool("a", {}, () => "a");
    server.tool("b", {}, () => "b");
    added.remove();
    await turn();
    expect(call.sent).toHaveLength(2);
  });

  test("H9: a server that closes cancels each subscription, then answers it", async () => {
    const { call, reply } = await listen({ toolsListChanged: true });
    await server.close(0);
    expect(call.sent.at(-1)).toEqual({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { _meta: { [SUBSCRIPTION]: 7 }, requestId: 7 },
    });
    expect(JSON.parse(await reply)).toEqual({
      jsonrpc: "2.0",
      id: 7,
      result: {
        resultType: "complete",
        _meta: { [SUBSCRIPTION]: 7, [SERVER_INFO]: { name: "test", version: "1.0.0" } },
      },
    });
  });

  test("H6: a stream whose client went away hears nothing more and holds nothing", async () => {
    const { call, reply } = await listen({ toolsListChanged: true });
    call.drop(new Error("gone"));
    await reply;
    server.toolsChanged();
    expect(call.sent).toHaveLength(1);
  });

  test("H9: a slow reader gets each kind once when it has caught up", async () => {
    const { call } = await listen({ toolsListChanged: true, resourceSubscriptions: ["file:///a"] });
    call.slow = true;
    server.toolsChanged();
    for (let i = 0; i < 10_000; i++) {
      server.toolsChanged();
      server.resourceUpdated("file:///a");
    }
    expect(call.sent).toHaveLength(2);
    call.catchUp();
    expect(call.sent.slice(2)).toMatchObject([
      { method: "notifications/tools/list_changed" },
      { method: "notifications/resources/updated" },
    ]);
  });

  test("H9: changes reach the listeners of every instance on the bus", async () => {
    const bus = createEventBus();
    const other = createServer({ name: "other", version: "1.0.0", singleInstance: true, bus });
    server = createServer({ name: "test", version: "1.0.0", singleInstance: true, bus });
    server.tool("hello", {}, () => "Hello.");
    core = coreOf(server);
    const { call } = await listen({ toolsListChanged: true });
    other.toolsChanged();
    expect(call.sent.at(-1)).toMatchObject({ method: "notifications/tools/list_changed" });
  });

  test("S23: more streams than allowed are refused", async () => {
    const trace = vi.fn();
    server = createServer({ name: "test", version: "1.0.0", singleInstance: true, trace, limits: { streams: 1 } });
    core = coreOf(server);
    await listen({});
    const { reply } = await listen({});
    expect(JSON.parse(await reply).error.code).toBe(42900);
    expect(trace).toHaveBeenCalledWith({ type: "limited", limit: "streams" });
  });

  test("S16: more watched resources than one stream may have are -32602", async () => {
    const { reply } = await listen({ resourceSubscriptions: new Array(1001).fill("file:///a") });
    expect(JSON.parse(await reply).error.code).toBe(-32602);
  });
});

test("H12: progress for a slow reader is dropped, not queued", async () => {
  server.tool("loop", {}, (_args, ctx) => {
    for (let i = 1; i <= 1000; i++) ctx.progress(i);
    return "done";
  });
  const call = new MemoryCall();
  call.slow = true;
  const reply = await core.handle(message("tools/call", { name: "loop" }, { progressToken: 1 }), call);
  expect(call.sent).toHaveLength(1);
  expect(JSON.parse(reply.body as string).result.content[0].text).toBe("done");
});
