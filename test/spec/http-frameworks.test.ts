import { AsyncLocalStorage } from "node:async_hooks";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express from "express";
import { expect, test } from "vitest";
import { createApp as expressApp } from "../../examples/frameworks/express.ts";
import { createApp as fastifyApp } from "../../examples/frameworks/fastify.ts";
import { createApp as honoApp } from "../../examples/frameworks/hono.ts";
import { createApp as nodeHttpApp } from "../../examples/frameworks/node-http.ts";
import { createServer, type Server } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";
import { headersFor, message } from "./http-entry.ts";

function build(): Server {
  const server = createServer({ name: "test", version: "1.0.0", singleInstance: true });
  server.tool("hello", {}, () => "Hello.");
  server.tool("count", {}, (_args, ctx) => {
    ctx.progress(1);
    return "counted";
  });
  return server;
}

interface Running {
  readonly port: number;
  close(): Promise<unknown> | unknown;
}

async function listen(handler: RequestListener): Promise<Running> {
  const http = createHttpServer(handler);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return { port: (http.address() as AddressInfo).port, close: () => http.close() };
}

const frameworks: readonly (readonly [string, (server: Server) => Promise<Running>])[] = [
  [
    "node:http",
    async (server) => {
      const http = nodeHttpApp(server);
      await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
      return { port: (http.address() as AddressInfo).port, close: () => http.close() };
    },
  ],
  ["Express 5", (server) => listen(expressApp(server))],
  ["Express 5 behind express.json()", (server) => listen(express().use(express.json()).use(expressApp(server)))],
  [
    "Fastify 5",
    async (server) => {
      const app = fastifyApp(server);
      await app.listen({ port: 0, host: "127.0.0.1" });
      return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
    },
  ],
  [
    "Hono",
    async (server) => {
      const http = serve({ fetch: honoApp(server).fetch, port: 0, hostname: "127.0.0.1" });
      await new Promise<void>((resolve) => http.once("listening", () => resolve()));
      return { port: (http.address() as AddressInfo).port, close: () => http.close() };
    },
  ],
];

function postTo({ port }: Running, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: { ...headersFor(body), ...headers },
    body: JSON.stringify(body),
  });
}

test.each(frameworks)("%s: JSON, a stream, refusals", async (_name, open) => {
  const server = build();
  const running = await open(server);
  const post = (body: object, headers?: Record<string, string>): Promise<Response> => postTo(running, body, headers);
  const plain = await post(message("tools/call", { name: "hello" }));
  expect(plain.headers.get("content-type")).toBe("application/json");
  expect(await plain.json()).toMatchObject({ id: 1, result: { content: [{ text: "Hello." }] } });

  const streamed = await post(message("tools/call", { name: "count" }, { progressToken: 1 }));
  expect(streamed.headers.get("content-type")).toBe("text/event-stream");
  expect((await streamed.text()).match(/^data: /gm)).toHaveLength(2);

  expect((await post(message("no/such"))).status).toBe(404);
  expect((await post(message("tools/list"), { origin: "https://evil.example" })).status).toBe(403);
  expect((await fetch(`http://127.0.0.1:${running.port}/mcp`)).status).toBe(405);
  await running.close();
  await server.close(0);
});

test("a framework's own timeout may answer before the handler has: its answer stands, and the server goes on", async () => {
  const server = createServer({ name: "test", version: "1.0.0", singleInstance: true });
  let end = (): void => {};
  server.tool("slow", {}, () => new Promise<string>((resolve) => (end = () => resolve("late"))));
  server.tool("hello", {}, () => "Hello.");
  const handle = nodeHandler(server);
  const running = await listen((req, res) => {
    handle(req, res);
    if (req.headers["mcp-name"] === "slow") setTimeout(() => res.writeHead(503).end("too slow"), 50);
  });
  const slow = await postTo(running, message("tools/call", { name: "slow" }));
  expect([slow.status, await slow.text()]).toEqual([503, "too slow"]);
  end();
  const next = await postTo(running, message("tools/call", { name: "hello" }));
  expect(await next.json()).toMatchObject({ result: { content: [{ text: "Hello." }] } });
  await running.close();
  await server.close(0);
});

test("handlers and listeners on a response run in the async context of their request, however many end together", async () => {
  const context = new AsyncLocalStorage<string>();
  const server = createServer({ name: "test", version: "1.0.0", singleInstance: true });
  server.tool("whose", {}, () => `${context.getStore()}`);
  const finished: unknown[] = [];
  const handle = nodeHandler(server);
  const running = await listen((req, res) => {
    context.run(req.headers["x-request-id"] as string, () => {
      res.on("finish", () => finished.push(context.getStore()));
      handle(req, res);
    });
  });
  const ids = Array.from({ length: 20 }, (_, i) => `request ${i + 10}`);
  const body = message("tools/call", { name: "whose" });
  const answers = await Promise.all(ids.map((id) => postTo(running, body, { "x-request-id": id })));
  const texts = await Promise.all(answers.map(async (answer) => (await answer.json()).result.content[0].text));
  expect(texts).toEqual(ids);
  expect(finished.sort()).toEqual(ids);
  await running.close();
  await server.close(0);
});
