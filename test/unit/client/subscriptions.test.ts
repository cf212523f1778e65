import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createQueue } from "../../../src/client/changes/queue.ts";
import { type Client, connect, type Subscription, type SubscriptionEvent } from "../../../src/client.ts";
import { type HttpServer, memory, openStream, type Script, serve } from "./fixtures.ts";

const ALL = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ["file:///a", "file:///b"],
};

interface Listener {
  readonly id: number;
  readonly reply: ServerResponse;
  tell(method: string, params?: Record<string, unknown>): void;
  acknowledge(notifications?: unknown): void;
  /** Ends in good order. */
  finish(): void;
}

let server: HttpServer;
let client: Client;
let listeners: Listener[];
let respond: Script;

beforeEach(async () => {
  listeners = [];
  respond = ({ method, params }) => {
    const kept = { resultType: "complete", ttlMs: 600_000, cacheScope: "public" };
    if (method === "resources/read")
      return { ...kept, contents: [{ uri: params.uri, text: `read ${server.of("resources/read").length}` }] };
    return { ...kept, tools: [], prompts: [], resources: [], resourceTemplates: [] };
  };
  server = await serve((seen, reply) => {
    if (seen.method !== "subscriptions/listen") return respond(seen, reply);
    const _meta = { "io.modelcontextprotocol/subscriptionId": seen.id };
    const stream = openStream(reply);
    const tell = (method: string, params: Record<string, unknown> = {}): void =>
      stream.send({ jsonrpc: "2.0", method, params: { _meta, ...params } });
    listeners.push({
      id: seen.id,
      reply,
      tell,
      acknowledge: (notifications = ALL) => tell("notifications/subscriptions/acknowledged", { notifications }),
      finish: () => {
        stream.send({ jsonrpc: "2.0", id: seen.id, result: { resultType: "complete", _meta } });
        stream.end();
      },
    });
    return undefined;
  });
  client = await connect(server.url, { onWarning: () => {} });
});

afterEach(async () => {
  await client.close();
  await server[Symbol.asyncDispose]();
});

async function listener(index: number): Promise<Listener> {
  await vi.waitFor(() => expect(listeners.length).toBeGreaterThan(index));
  return listeners[index] as Listener;
}

async function next(subscription: Subscription): Promise<SubscriptionEvent> {
  const { value } = await subscription.next();
  return value as SubscriptionEvent;
}

describe("a subscription", () => {
  test("H9: tells what the server agrees to, then each change that was asked for", async () => {
    const subscription = client.subscribe({ toolsListChanged: true, resourceSubscriptions: ["file:///a"] });
    const { tell, acknowledge } = await listener(0);
    tell("notifications/tools/list_changed");
    acknowledge({ toolsListChanged: true });
    tell("notifications/prompts/list_changed");
    tell("notifications/resources/list_changed");
    tell("notifications/tools/list_changed");
    tell("notifications/resources/updated", { uri: "file:///a/b" });
    tell("notifications/resources/updated", { uri: 7 });
    tell("notifications/tasks", { taskId: "t" });
    expect(await next(subscription)).toEqual({ type: "acknowledged", notifications: { toolsListChanged: true } });
    expect(await next(subscription)).toEqual({ type: "tools_changed" });
    expect(await next(subscription)).toEqual({ type: "resource_updated", uri: "file:///a/b" });
    expect(await next(subscription)).toMatchObject({
      type: "notification",
      method: "notifications/tasks",
      params: { taskId: "t" },
    });
    expect(server.seen[0]).toMatchObject({
      method: "subscriptions/listen",
      params: { notifications: { toolsListChanged: true, resourceSubscriptions: ["file:///a"] } },
    });
    expect(server.seen[0]?.headers["mcp-method"]).toBe("subscriptions/listen");
    subscription.close();
  });

  test("H10: a change drops what is cached before it is told", async () => {
    const fetchAll = async (): Promise<void> => {
      await client.listTools();
      await client.listPrompts();
      await client.listResources();
      await client.listResourceTemplates();
      await client.readResource("file:///a");
      await client.readResource("file:///b");
    };
    const subscription = client.subscribe(ALL);
    const { tell, acknowledge } = await listener(0);
    acknowledge();
    await next(subscription);
    await fetchAll();
    for (const [method, params, fetched] of [
      ["notifications/tools/list_changed", {}, ["tools/list"]],
      ["notifications/prompts/list_changed", {}, ["prompts/list"]],
      ["notifications/resources/list_changed", {}, ["resources/list", "resources/templates/list"]],
      ["notifications/resources/updated", { uri: "file:///a" }, ["resources/read"]],
      ["notifications/resources/updated", { uri: "file:///b/c" }, ["resources/read"]],
      ["notifications/resources/updated", { uri: "file:///c" }, []],
    ] as const) {
      const before = server.seen.length;
      tell(method, params);
      await next(subscription);
      await fetchAll();
      expect(server.seen.slice(before).map((seen) => seen.method)).toEqual(fetched);
    }
    subscription.close();
  });

  test.each(["break", "finish"])(
    "C13: after a %s it is opened again, lists are dropped, resources read again, and the gap is told",
    async (how) => {
      const subscription = client.subscribe(ALL, { pace: () => 1 });
      const first = await listener(0);
      first.acknowledge();
      await next(subscription);
      await client.listTools();
      await client.readResource("file:///a");
      if (how === "break") first.reply.destroy();
      else first.finish();
      const second = await listener(1);
      second.acknowledge({ toolsListChanged: true, resourceSubscriptions: ["file:///a", "file:///b"] });
      second.tell("notifications/tools/list_changed");
      const gap = await next(subscription);
      expect(gap).toEqual({
        type: "gap",
        notifications: { toolsListChanged: true, resourceSubscriptions: ["file:///a", "file:///b"] },
        resources: [
          {
            uri: "file:///a",
            result: expect.objectContaining({ contents: [expect.objectContaining({ uri: "file:///a" })] }),
          },
          {
            uri: "file:///b",
            result: expect.objectContaining({ contents: [expect.objectContaining({ uri: "file:///b" })] }),
          },
        ],
      });
      expect(await next(subscription)).toEqual({ type: "tools_changed" });
      expect(server.of("resources/read")).toHaveLength(3);
      await client.readResource("file:///b");
      expect(server.of("resources/read")).toHaveLength(3);
      await client.listTools();
      expect(server.of("tools/list")).toHaveLength(2);
      expect(second.id).not.toBe(first.id);
      subscription.close();
    },
  );

  test("C13: a resource that cannot be read again says so, and nobody is asked for it", async () => {
    respond = ({ params }) =>
      params.uri === "file:///a"
        ? { error: { code: -32602, message: "gone" } }
        : { resultType: "input_required", inputRequests: { who: { method: "roots/list" } } };
    const asking = await connect(server.url, { roots: () => [] });
    const subscription = asking.subscribe(ALL, { pace: () => 1 });
    (await listener(0)).acknowledge();
    await next(subscription);
    listeners[0]?.reply.destroy();
    (await listener(1)).acknowledge();
    expect(await next(subscription)).toMatchObject({
      type: "gap",
      resources: [
        { uri: "file:///a", error: { code: -32602 } },
        { uri: "file:///b", error: { code: "no_handler" } },
      ],
    });
    expect(server.of("resources/read")[0]?.params._meta["io.modelcontextprotocol/clientCapabilities"]).toEqual({});
    subscription.close();
    await asking.close();
  });

  test("C13: tries in a row wait longer", async () => {
    const attempts: number[] = [];
    const subscription = client.subscribe(
      { toolsListChanged: true },
      {
        pace: (attempt) => {
          attempts.push(attempt);
          return 1;
        },
      },
    );
    for (let index = 0; index < 3; index++) {
      const { acknowledge, reply } = await listener(index);
      acknowledge();
      await next(subscription);
      reply.destroy();
    }
    await listener(3);
    expect(attempts).toEqual([1, 2, 3]);
    subscription.close();
  });

  test("that never opens is an error, and so is one that the server refuses later", async () => {
    const nowhere = await connect("http://127.0.0.1:9/mcp");
    await expect(nowhere.subscribe({}).next()).rejects.toMatchObject({ code: "connection_failed" });
    let calls = 0;
    const refused = await connect(
      memory(async ({ id }, notify) => {
        if (calls++ > 0) return { error: { code: -32601, message: "Method not found" } };
        notify({
          jsonrpc: "2.0",
          method: "notifications/subscriptions/acknowledged",
          params: { _meta: { "io.modelcontextprotocol/subscriptionId": id }, notifications: {} },
        });
        return { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": id } };
      }),
    );
    const subscription = refused.subscribe({}, { pace: () => 1 });
    expect(await next(subscription)).toMatchObject({ type: "acknowledged" });
    await expect(subscription.next()).rejects.toMatchObject({ code: -32601 });
    expect(await subscription.next()).toEqual({ done: true, value: undefined });
  });

  test("that is not acknowledged in time is an error", async () => {
    const impatient = await connect(server.url, { legTimeoutMs: 30 });
    await expect(impatient.subscribe({ toolsListChanged: true }).next()).rejects.toMatchObject({ code: "timeout" });
    await vi.waitFor(() => expect(listeners[0]?.reply.destroyed).toBe(true));
    await impatient.close();
  });

  test("outlives the time limit of requests", async () => {
    const impatient = await connect(server.url, { legTimeoutMs: 300 });
    const subscription = impatient.subscribe({ toolsListChanged: true });
    const { acknowledge, tell } = await listener(0);
    acknowledge();
    await new Promise((resolve) => setTimeout(resolve, 400));
    tell("notifications/tools/list_changed");
    await next(subscription);
    expect(await next(subscription)).toEqual({ type: "tools_changed" });
    expect(listeners).toHaveLength(1);
    subscription.close();
    await impatient.close();
  });

  test("without reconnect it ends with its stream", async () => {
    const subscription = client.subscribe({ toolsListChanged: true }, { reconnect: false });
    const { acknowledge, finish } = await listener(0);
    acknowledge();
    finish();
    await next(subscription);
    expect(await subscription.next()).toEqual({ done: true, value: undefined });
    const broken = client.subscribe({ toolsListChanged: true }, { reconnect: false });
    const second = await listener(1);
    second.acknowledge();
    await next(broken);
    second.reply.destroy();
    await expect(broken.next()).rejects.toMatchObject({ code: "connection_failed" });
  });

  test("leaving the loop closes the stream", async () => {
    const reading = (async () => {
      for await (const event of client.subscribe({ toolsListChanged: true })) {
        if (event.type === "tools_changed") return event;
      }
      return undefined;
    })();
    const { acknowledge, tell, reply } = await listener(0);
    acknowledge();
    tell("notifications/tools/list_changed");
    expect(await reading).toEqual({ type: "tools_changed" });
    await vi.waitFor(() => expect(reply.destroyed).toBe(true));
    expect(listeners).toHaveLength(1);
  });

  test("its signal and the client's close end it with an error, its own close without one", async () => {
    await expect(client.subscribe({}, { signal: AbortSignal.abort() }).next()).rejects.toMatchObject({
      code: "aborted",
    });
    const abort = new AbortController();
    const aborted = client.subscribe({}, { signal: abort.signal });
    const closed = client.subscribe({});
    const orphaned = client.subscribe({});
    await listener(2);
    const outcomes = [
      expect(aborted.next()).rejects.toMatchObject({ code: "aborted" }),
      expect(closed.next()).resolves.toEqual({ done: true, value: undefined }),
      expect(orphaned.next()).rejects.toMatchObject({ code: "closed" }),
    ];
    abort.abort();
    closed.close();
    setTimeout(() => void client.close(), 10);
    await Promise.all(outcomes);
    await vi.waitFor(() => expect(listeners.every(({ reply }) => reply.destroyed)).toBe(true));
  });

  test("several at the same time are told apart", async () => {
    const tools = client.subscribe({ toolsListChanged: true });
    await listener(0);
    const prompts = client.subscribe({ promptsListChanged: true });
    await listener(1);
    listeners[0]?.acknowledge({ toolsListChanged: true });
    listeners[1]?.acknowledge({ promptsListChanged: true });
    listeners[1]?.tell("notifications/prompts/list_changed");
    listeners[0]?.tell("notifications/tools/list_changed");
    expect([await next(tools), await next(tools)]).toMatchObject([{ type: "acknowledged" }, { type: "tools_changed" }]);
    expect([await next(prompts), await next(prompts)]).toMatchObject([
      { type: "acknowledged" },
      { type: "prompts_changed" },
    ]);
    tools.close();
    prompts.close();
  });
});

describe("the queue of a slow reader", () => {
  test("says the same change once, and is bounded", async () => {
    const queue = createQueue<string>(3, () => "gap");
    for (const event of ["a", "b", "a", "a"]) queue.push(event, event);
    expect((await queue.next()).value).toBe("a");
    queue.push("a", "a");
    expect((await queue.next()).value).toBe("b");
    for (const event of ["x", "y", "z"]) queue.push(event);
    expect((await queue.next()).value).toBe("gap");
    queue.push("after");
    queue.end(new Error("over"));
    queue.push("late");
    expect((await queue.next()).value).toBe("after");
    await expect(queue.next()).rejects.toThrow("over");
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });

  test("waiting readers are served in order, and let go at the end", async () => {
    const queue = createQueue<string>(3, () => "gap");
    const reads = [queue.next(), queue.next(), queue.next()];
    queue.push("a");
    queue.end();
    expect(await Promise.all(reads)).toEqual([
      { done: false, value: "a" },
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
  });
});
