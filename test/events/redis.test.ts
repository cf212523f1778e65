import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type Client, connect } from "../../src/client.ts";
import { createRedisEventBus } from "../../src/events/redis.ts";
import { createServer, type EventBus, type Server, type ServerEvent } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";
import { generateKey } from "../../src/state.ts";
import { mayRun, type PrivateServer } from "../support/private-server.ts";
import { startRedis } from "../support/redis.ts";

const KEY = generateKey();

describe.skipIf(!mayRun("redis-server"))("the event bus over Redis", () => {
  let redis: PrivateServer;
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  afterAll(() => redis?.remove());

  /** One more instance of the same service, with a client of its own. */
  async function instance(url = redis.url): Promise<{ readonly server: Server; readonly client: Client }> {
    const bus = await createRedisEventBus({ url });
    const server = createServer({ name: "shop", version: "1.0.0", keys: [KEY], audience: "https://shop.example", bus });
    server.resource("stock", "shop://stock", {}, () => "3");
    server.tool("hello", {}, () => "Hello.");
    const http: HttpServer = createHttpServer(nodeHandler(server)).listen(0, "127.0.0.1");
    await vi.waitFor(() => expect(http.listening).toBe(true));
    const client = await connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, {});
    closing.push(
      async () => http.close(),
      () => server.close(0),
      () => client.close(),
    );
    return { server, client };
  }

  async function bus(options: { readonly client?: Redis; readonly channel?: string } = {}): Promise<EventBus> {
    const { client, channel = "test" } = options;
    const made = await createRedisEventBus(client ? { client, channel } : { url: redis.url, channel });
    closing.push(async () => made.close?.());
    return made;
  }

  function heardBy(listening: EventBus): ServerEvent[] {
    const heard: ServerEvent[] = [];
    listening.subscribe((event) => heard.push(event));
    return heard;
  }

  test("H9: a change raised on one instance reaches a client that listens at the other", async () => {
    const one = await instance();
    const two = await instance();
    const events = two.client.subscribe({ toolsListChanged: true, resourceSubscriptions: ["shop://stock"] });
    expect((await events.next()).value).toMatchObject({ type: "acknowledged" });
    one.server.resourceUpdated("shop://stock");
    expect((await events.next()).value).toEqual({ type: "resource_updated", uri: "shop://stock" });
    await one.client.listTools();
    one.server.tool("bye", {}, () => "Bye.");
    expect((await events.next()).value).toEqual({ type: "tools_changed" });
    events.close();
  });

  test("H9: after Redis was away, a client is told that all it watches may have changed, and of what changes then", async () => {
    const own = await startRedis();
    closing.push(() => own.remove());
    const one = await instance(own.url);
    const two = await instance(own.url);
    const events = two.client.subscribe({ toolsListChanged: true, resourceSubscriptions: ["shop://stock"] });
    expect((await events.next()).value).toMatchObject({ type: "acknowledged" });
    await own.kill();
    await own.start();
    expect((await events.next()).value).toEqual({ type: "tools_changed" });
    expect((await events.next()).value).toEqual({ type: "resource_updated", uri: "shop://stock" });
    one.server.tool("bye", {}, () => "Bye.");
    expect((await events.next()).value).toEqual({ type: "tools_changed" });
    events.close();
  });

  test("each instance hears an event once, the one that raised it at once", async () => {
    const one = await bus();
    const two = await bus();
    const [first, second] = [heardBy(one), heardBy(two)];
    one.publish({ type: "prompts_changed" });
    expect(first).toEqual([{ type: "prompts_changed" }]);
    two.publish({ type: "resources_changed" });
    await vi.waitFor(() => expect(first).toEqual([{ type: "prompts_changed" }, { type: "resources_changed" }]));
    expect(second).toEqual([{ type: "resources_changed" }, { type: "prompts_changed" }]);
  });

  test("what is no event is ignored, and so are other channels", async () => {
    const heard = heardBy(await bus());
    const stranger = new Redis(redis.url);
    closing.push(async () => stranger.disconnect());
    for (const text of [
      "",
      "[1]",
      "null",
      '{"from":"x"}',
      '{"from":"x","event":{"type":"toString"}}',
      '{"from":"x","event":{"type":"resource_updated","uri":7}}',
    ]) {
      await stranger.publish("test", text);
    }
    (await bus({ channel: "other" })).publish({ type: "tools_changed" });
    await stranger.publish("test", '{"from":"x","event":{"type":"resource_updated","uri":"a:b","more":1}}');
    await vi.waitFor(() => expect(heard).toEqual([{ type: "resource_updated", uri: "a:b" }]));
  });

  test("a client that was given stays open, and is not needed to listen", async () => {
    const client = new Redis(redis.url);
    closing.push(async () => client.disconnect());
    const given = await createRedisEventBus({ client, channel: "given" });
    expect(await client.publish("given", "?")).toBe(1);
    await given.close?.();
    await vi.waitFor(async () => expect(await client.publish("given", "?")).toBe(0));
  });

  test("while Redis is away events stay in the process, and afterwards they travel again", async () => {
    const one = await bus();
    const two = await bus();
    const [first, second] = [heardBy(one), heardBy(two)];
    await redis.kill();
    one.publish({ type: "tools_changed" });
    expect(first).toEqual([{ type: "tools_changed" }]);
    await redis.start();
    await vi.waitFor(
      () => {
        two.publish({ type: "resources_changed" });
        expect(first).toContainEqual({ type: "resources_changed" });
      },
      { timeout: 10_000, interval: 100 },
    );
    expect(second).toContainEqual({ type: "resources_changed" });
  });

  test("a Redis that is not there is an error at the start", async () => {
    await expect(createRedisEventBus({ url: "redis://127.0.0.1:1" })).rejects.toThrow();
  });
});
