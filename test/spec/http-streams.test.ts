import {
  createServer as createHttpServer,
  type Server as HttpServer,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { createServer, type Server, ToolError } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";
import { type Entry, entries, headersFor, message } from "./http-entry.ts";

const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

function build(): Server {
  const server = createServer({ name: "test", version: "1.0.0", singleInstance: true, trace: () => undefined });
  server.tool("hello", {}, () => "Hello.");
  server.tool("count", {}, async (_args, ctx) => {
    ctx.progress(1, 3, "one");
    ctx.progress(1, 3, "not risen");
    ctx.progress(2, 3);
    await Promise.resolve();
    ctx.log("debug", "quiet");
    ctx.log("error", { loud: true }, "test");
    return "counted";
  });
  server.tool("late", {}, (_args, ctx) => {
    ctx.progress(1);
    setTimeout(() => ctx.progress(2), 5);
    return "over";
  });
  server.tool("ask", {}, async (_args, ctx) => {
    ctx.progress(1);
    await ctx.elicit("name", { message: "Name?", schema: z.object({ name: z.string() }) });
    return "never here";
  });
  server.tool("throws", {}, (_args, ctx) => {
    ctx.progress(1);
    throw new ToolError("It broke.");
  });
  server.prompt("broken", {}, (_args, ctx) => {
    ctx.progress(1);
    throw new Error("secret detail");
  });
  return server;
}

describe.each(entries)("over %s", (_name, open) => {
  let server: Server;
  let entry: Entry;
  beforeEach(async () => {
    server = build();
    entry = await open(server);
  });
  afterEach(async () => {
    await entry.close();
    await server.close();
  });
  const call = (name: string, meta = {}) => entry.send({ body: message("tools/call", { name }, meta) });

  test("H8: without anything to stream the answer is JSON, whatever token or level was sent", async () => {
    const answer = await call("hello", { progressToken: 1, [LOG_LEVEL]: "debug" });
    expect(answer.header("content-type")).toBe("application/json");
  });

  test("case 7: a stream is not to be buffered, cached or changed", async () => {
    const answer = await call("count", { progressToken: "t" });
    expect(answer.status).toBe(200);
    expect(answer.header("content-type")).toBe("text/event-stream");
    expect(answer.header("cache-control")).toBe("no-cache, no-transform");
    expect(answer.header("x-accel-buffering")).toBe("no");
  });

  test("H12: progress rises, carries its token, and ends with the response", async () => {
    const answer = await call("count", { progressToken: "t" });
    expect(answer.events).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "t", progress: 1, total: 3, message: "one" } },
      { method: "notifications/progress", params: { progressToken: "t", progress: 2, total: 3 } },
      { id: 1, result: { content: [{ text: "counted" }] } },
    ]);
  });

  test("H12: without a token or a level nothing is streamed", async () => {
    const answer = await call("count");
    expect(answer.header("content-type")).toBe("application/json");
    expect(answer.json.result.content[0].text).toBe("counted");
  });

  test("H12: log messages come only at or above the level of the request", async () => {
    const answer = await call("count", { [LOG_LEVEL]: "warning" });
    expect(answer.events).toMatchObject([
      { method: "notifications/message", params: { level: "error", data: { loud: true }, logger: "test" } },
      { id: 1 },
    ]);
  });

  test("H12: nothing follows the final message", async () => {
    const answer = await call("late", { progressToken: 1 });
    await new Promise((resolve) => setTimeout(resolve, 15));
    expect(answer.events.map((event) => event.method ?? "response")).toEqual(["notifications/progress", "response"]);
  });

  test("S24: nothing that a server sends is a request", async () => {
    for (const name of ["count", "ask", "throws"]) {
      const meta = {
        progressToken: 1,
        [LOG_LEVEL]: "debug",
        "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
      };
      for (const event of (await call(name, meta)).events) expect("id" in event && "method" in event).toBe(false);
    }
  });

  test("S1: only calls, prompts and reads may ask; elsewhere answers and state change nothing", async () => {
    const retry = { inputResponses: { name: { action: "accept", content: {} } }, requestState: "v1.x.y" };
    for (const [method, params] of [
      ["server/discover", {}],
      ["tools/list", {}],
      ["prompts/list", {}],
    ] as const) {
      const answer = await entry.send({ body: message(method, { ...params, ...retry }) });
      expect(answer.json.result.resultType).toBe("complete");
      expect(answer.json.result).not.toHaveProperty("inputRequests");
    }
  });

  test("S21: input_required is the last message of a stream", async () => {
    const body = message(
      "tools/call",
      { name: "ask" },
      {
        progressToken: 1,
        "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
      },
    );
    const answer = await entry.send({ body });
    expect(answer.events.at(-1)).toMatchObject({ id: 1, result: { resultType: "input_required" } });
    expect(answer.events).toHaveLength(2);
  });

  test("S21: an error after the headers is the stream's last message", async () => {
    const tool = await call("throws", { progressToken: 1 });
    expect(tool.events.at(-1)).toMatchObject({ id: 1, result: { isError: true, content: [{ text: "It broke." }] } });
    const prompt = await entry.send({ body: message("prompts/get", { name: "broken" }, { progressToken: 1 }) });
    expect(prompt.events.at(-1)).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32603, message: expect.stringMatching(/^The prompt failed\. Reference: [0-9a-f]{8}\.$/) },
    });
    const gated = await call("ask", { progressToken: 1 });
    expect(gated.events.at(-1)).toMatchObject({ id: 1, error: { code: -32021 } });
  });

  test("S6: a question that the client cannot answer is -32021 and 400 when nothing was streamed", async () => {
    const answer = await call("ask");
    expect([answer.status, answer.json.error.code]).toEqual([400, -32021]);
    expect(answer.json.error.data).toEqual({ requiredCapabilities: { elicitation: { form: {} } } });
  });
});

describe("a client that goes away", () => {
  let server: Server;
  let http: HttpServer;
  let port: number;
  const aborted = vi.fn();
  let started: Promise<void>;

  beforeEach(async () => {
    aborted.mockReset();
    server = build();
    let begin: () => void = () => undefined;
    started = new Promise((resolve) => (begin = resolve));
    server.tool("wait", { input: z.object({ id: z.string() }) }, ({ id }, ctx) => {
      ctx.signal.addEventListener("abort", () => aborted(id));
      if (id.startsWith("stream")) ctx.progress(1);
      begin();
      return new Promise<string>((resolve) => setTimeout(() => resolve(id), 300));
    });
    http = createHttpServer(nodeHandler(server));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    port = (http.address() as AddressInfo).port;
  });
  afterEach(async () => {
    http.close();
    http.closeAllConnections();
    await server.close(0);
  });

  const post = (id: string, meta = {}): { req: ReturnType<typeof httpRequest>; done: Promise<string> } => {
    const body = message("tools/call", { name: "wait", arguments: { id } }, meta);
    const req = httpRequest({ port, method: "POST", path: "/", headers: headersFor(body) });
    const done = new Promise<string>((resolve) => {
      req.on("error", () => resolve("aborted"));
      req.on("response", (res: IncomingMessage) => {
        let text = "";
        res.on("data", (chunk) => {
          text += chunk;
        });
        res.on("end", () => resolve(text));
        res.on("error", () => resolve("aborted"));
      });
    });
    req.end(JSON.stringify(body));
    return { req, done };
  };

  test.each(["json", "stream"])(
    "case 5: an aborted POST (%s) fires its handler's signal, and no other's",
    async (kind) => {
      const first = post(kind, { progressToken: 1 });
      const second = post("other");
      await started;
      await new Promise((resolve) => setTimeout(resolve, 30));
      first.req.destroy();
      expect(await second.done).toContain('"text":"other"');
      expect(aborted.mock.calls).toEqual([[kind]]);
    },
  );

  test("H6: an answered request's signal does not fire when its connection ends", async () => {
    const only = post("kept");
    await only.done;
    http.closeAllConnections();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(aborted).not.toHaveBeenCalled();
  });

  test("case 4: two users with the same JSON-RPC id get each their own answer", async () => {
    const answers = await Promise.all(["a", "b", "c"].map((id) => post(id).done));
    expect(answers.map((text) => JSON.parse(text).result.content[0].text)).toEqual(["a", "b", "c"]);
  });
});

test("case 5: over fetch an aborted request and a cancelled stream fire the signal", async () => {
  const server = build();
  const aborted = vi.fn();
  server.tool("wait", {}, (_args, ctx) => {
    ctx.signal.addEventListener("abort", () => aborted());
    ctx.progress(1);
    return new Promise<string>((resolve) => setTimeout(() => resolve("late"), 100));
  });
  const request = (meta: object, signal?: AbortSignal): Request => {
    const body = message("tools/call", { name: "wait" }, { ...meta });
    const init = { method: "POST", headers: headersFor(body), body: JSON.stringify(body) };
    return new Request("http://localhost/mcp", signal ? { ...init, signal } : init);
  };
  const response = await server.fetch(request({ progressToken: 1 }));
  await response.body?.cancel();
  expect(aborted).toHaveBeenCalledTimes(1);
  const controller = new AbortController();
  const pending = server.fetch(request({}, controller.signal));
  await new Promise((resolve) => setTimeout(resolve, 20));
  controller.abort();
  expect(aborted).toHaveBeenCalledTimes(2);
  await pending;
  await server.close();
});

test("H8: a quiet stream is kept alive by comments", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const server = build();
    const body = message("subscriptions/listen", { notifications: { toolsListChanged: true } });
    const init = { method: "POST", headers: headersFor(body), body: JSON.stringify(body) };
    const response = await server.fetch(new Request("http://localhost/mcp", init));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const read = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toContain("notifications/subscriptions/acknowledged");
    vi.advanceTimersByTime(15_000);
    expect(await read()).toBe(":\n\n");
    await reader.cancel();
    expect(vi.getTimerCount()).toBe(0);
    await server.close(0);
  } finally {
    vi.useRealTimers();
  }
});
