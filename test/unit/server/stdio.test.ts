import { PassThrough, Writable } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import type { Server } from "../../../src/index.ts";
import { serveStdio } from "../../../src/stdio.ts";
import { message } from "../../spec/http-entry.ts";
import { create } from "./harness.ts";

interface Pipe {
  readonly input: PassThrough;
  /** Each line that was written, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any message
  readonly lines: any[];
  readonly ended: Promise<void>;
  send(...messages: (object | string)[]): void;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any message
  until(matches: (line: any) => boolean): Promise<any>;
}

function open(server: Server): Pipe {
  const input = new PassThrough();
  const lines: unknown[] = [];
  let text = "";
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n")) {
        lines.push(JSON.parse(text.slice(0, at)));
        text = text.slice(at + 1);
      }
      done();
    },
  });
  const ended = serveStdio(server, { input, output });
  return {
    input,
    lines,
    ended,
    send: (...messages) => {
      for (const sent of messages) input.write(`${typeof sent === "string" ? sent : JSON.stringify(sent)}\n`);
    },
    until: (matches) =>
      vi.waitFor(() => {
        const found = lines.find(matches);
        if (found === undefined) throw new Error("not yet");
        return found;
      }),
  };
}

const request = (id: number | string, method: string, params = {}, meta = {}): object => ({
  ...message(method, params, meta),
  id,
});
const call = (id: number | string, name: string, meta = {}): object => request(id, "tools/call", { name }, meta);

let server: Server;
const aborted = vi.fn();
const build = (): Pipe => {
  aborted.mockReset();
  server = create();
  server.tool("hello", {}, () => "Hello.");
  server.tool("wait", {}, (_args, ctx) => {
    ctx.progress(1);
    return new Promise<string>((resolve) => {
      const timer = setTimeout(() => resolve("waited"), 50);
      ctx.signal.addEventListener("abort", () => {
        aborted();
        clearTimeout(timer);
        resolve("stopped");
      });
    });
  });
  return open(server);
};
afterEach(() => server.close(0));

test("one message a line, answers as they are ready", async () => {
  const pipe = build();
  pipe.send(call("slow", "wait"), call(2, "hello"));
  await pipe.until((line) => line.id === "slow");
  expect(pipe.lines.map((line) => [line.id, line.result.content[0].text])).toEqual([
    [2, "Hello."],
    ["slow", "waited"],
  ]);
  pipe.input.end();
  await pipe.ended;
});

test("lines cut anywhere, several in one chunk, blank ones and carriage returns", async () => {
  const pipe = build();
  const bytes = Buffer.from(`\n \r\n${JSON.stringify(call("é", "hello"))}\r\n${JSON.stringify(call(2, "hello"))}\n`);
  for (const byte of bytes.subarray(0, 200)) pipe.input.write(Buffer.from([byte]));
  pipe.input.write(bytes.subarray(200));
  await pipe.until((line) => line.id === 2);
  expect(pipe.lines.map((line) => line.id)).toEqual(["é", 2]);
  pipe.input.end();
  await pipe.ended;
});

test("a line without its end is still a message when the input ends", async () => {
  const pipe = build();
  pipe.input.end(JSON.stringify(request(1, "tools/list")));
  await pipe.ended;
  expect(pipe.lines).toHaveLength(1);
});

test("S16: a malformed line is -32700 without an id, and serving goes on", async () => {
  const pipe = build();
  pipe.send("{", "[]", '{"jsonrpc":"2.0","id":null,"method":"x"}', call(1, "hello"));
  pipe.input.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
  await vi.waitFor(() => expect(pipe.lines).toHaveLength(5));
  const codes = pipe.lines.filter((line) => line.error).map((line) => ["id" in line, line.error.code]);
  expect(codes).toEqual([
    [false, -32700],
    [false, -32600],
    [false, -32600],
    [false, -32700],
  ]);
  pipe.input.end();
  await pipe.ended;
});

test("H1: requests need their metadata and no headers; V1: initialize is told what we speak", async () => {
  const pipe = build();
  pipe.send({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  pipe.send({ jsonrpc: "2.0", id: 2, method: "initialize", params: { protocolVersion: "2025-11-25" } });
  await pipe.until((line) => line.id === 2);
  expect(pipe.lines.map((line) => line.error.code)).toEqual([-32602, -32022]);
  expect(pipe.lines[1].error.message).toContain("2026-07-28");
  pipe.input.end();
  await pipe.ended;
});

test("H6: notifications/cancelled stops its request, which is not answered, and no other", async () => {
  const pipe = build();
  pipe.send(call(1, "wait", { progressToken: "a" }), call(2, "wait", { progressToken: "b" }));
  await pipe.until((line) => line.params?.progressToken === "b");
  pipe.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, reason: "no more" } });
  await pipe.until((line) => line.id === 2);
  expect(aborted).toHaveBeenCalledTimes(1);
  expect(pipe.lines.filter((line) => line.id === 1)).toEqual([]);
  pipe.input.end();
  await pipe.ended;
});

test("H6: cancellations that are malformed, unknown or late are ignored", async () => {
  const pipe = build();
  pipe.send(
    { jsonrpc: "2.0", method: "notifications/cancelled" },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: {} } },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "__proto__" } },
    { jsonrpc: "2.0", method: "notifications/unknown" },
    call(1, "hello"),
  );
  await pipe.until((line) => line.id === 1);
  pipe.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }, call(2, "hello"));
  await pipe.until((line) => line.id === 2);
  expect(pipe.lines).toHaveLength(2);
  pipe.input.end();
  await pipe.ended;
});

test("an id that is in use is refused and leaves the first request alone", async () => {
  const pipe = build();
  pipe.send(call(1, "wait"), call(1, "hello"));
  await pipe.until((line) => line.result);
  expect(pipe.lines.map((line) => line.error?.code ?? line.result.content[0].text)).toEqual([-32600, "waited"]);
  pipe.input.end();
  await pipe.ended;
});

test("case 69: what was received before the end of the input is answered", async () => {
  const pipe = build();
  pipe.send(call(1, "wait", { progressToken: 1 }), request(2, "subscriptions/listen", { notifications: {} }));
  await pipe.until((line) => line.method === "notifications/progress");
  pipe.input.end(JSON.stringify(call(3, "hello")));
  await pipe.ended;
  expect(aborted).not.toHaveBeenCalled();
  const answers = pipe.lines.filter((line) => line.result?.content !== undefined);
  expect(answers.map((line) => [line.id, line.result.content[0].text])).toEqual([
    [3, "Hello."],
    [1, "waited"],
  ]);
  expect(pipe.lines.filter((line) => line.id === 2)).toEqual([]);
});

test("case 69: what takes longer than there is patience is told to stop, and not answered", async () => {
  const pipe = build();
  const stopped = vi.fn();
  server.tool("for ever", {}, (_args, ctx) => {
    ctx.progress(1);
    return new Promise<string>((resolve) => {
      ctx.signal.addEventListener("abort", () => {
        stopped(String(ctx.signal.reason));
        resolve("stopped");
      });
    });
  });
  server.tool("deaf", {}, () => new Promise<string>(() => undefined));
  pipe.send(call(1, "for ever", { progressToken: 1 }), call(2, "deaf"));
  await pipe.until((line) => line.method === "notifications/progress");
  const startedAt = performance.now();
  pipe.input.end();
  await pipe.ended;
  expect(performance.now() - startedAt).toBeGreaterThan(1_900);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  expect(stopped).toHaveBeenCalledTimes(1);
  expect(stopped.mock.calls[0]?.[0]).toContain("The client has ended its input.");
  expect(pipe.lines.filter((line) => "id" in line)).toEqual([]);
});

test("case 55: a byte order mark before a line is skipped", async () => {
  const pipe = build();
  pipe.send(`\uFEFF${JSON.stringify(call(1, "hello"))}`, "\uFEFF", `\uFEFF${JSON.stringify(call(2, "hello"))}\r`);
  await pipe.until((line) => line.id === 2);
  expect(pipe.lines.map((line) => [line.id, line.error])).toEqual([
    [1, undefined],
    [2, undefined],
  ]);
  pipe.input.end();
  await pipe.ended;
});

test("case 68: when the output breaks, what runs is told, nothing more is read, and later writes do no harm", async () => {
  server = create();
  const ran = vi.fn();
  const told = vi.fn();
  server.tool("first", {}, () => "Hello.");
  server.tool("slow", {}, (_args, ctx) => {
    return new Promise<string>((resolve) => {
      ctx.signal.addEventListener("abort", () => {
        told();
        resolve("late");
      });
    });
  });
  server.tool("effect", {}, () => {
    ran();
    return "done";
  });
  const input = new PassThrough();
  // As process.stdout does it: each write fails, and it is never destroyed.
  const output = new Writable({
    autoDestroy: false,
    write: (_chunk, _encoding, done) => setImmediate(done, new Error("write EPIPE")),
  });
  const ended = serveStdio(server, { input, output });
  const line = (message: object): string => `${JSON.stringify(message)}\n`;
  input.write(line(call(1, "slow")) + line(call(2, "first")));
  await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1));
  if (!input.destroyed) input.write(line(call(3, "effect")));
  await ended;
  expect(ran).not.toHaveBeenCalled();
  output.emit("error", new Error("write EPIPE"));
});

test("an output that broke ends the serving", async () => {
  server = create();
  const input = new PassThrough();
  const output = new PassThrough();
  const ended = serveStdio(server, { input, output });
  output.destroy(new Error("EPIPE"));
  await ended;
});

test("H9: subscriptions share the pipe and are told apart by their id", async () => {
  const pipe = build();
  pipe.send(
    request("s1", "subscriptions/listen", { notifications: { toolsListChanged: true } }),
    request("s2", "subscriptions/listen", { notifications: { toolsListChanged: true } }),
  );
  await vi.waitFor(() => expect(pipe.lines).toHaveLength(2));
  server.toolsChanged();
  const key = "io.modelcontextprotocol/subscriptionId";
  await vi.waitFor(() => expect(pipe.lines.slice(2).map((line) => line.params._meta[key])).toEqual(["s1", "s2"]));
  await server.close(0);
  await vi.waitFor(() =>
    expect(pipe.lines.slice(4).map((line) => line.method ?? line.id)).toEqual([
      "notifications/cancelled",
      "notifications/cancelled",
      "s1",
      "s2",
    ]),
  );
  pipe.input.end();
  await pipe.ended;
});

test("H13: a line over the limit is refused and skipped", async () => {
  server = create({ limits: { bodyBytes: 1000 } });
  server.tool("hello", {}, () => "Hello.");
  const pipe = open(server);
  pipe.send("x".repeat(5000), call(1, "hello"));
  await pipe.until((line) => line.id === 1);
  expect(pipe.lines[0].error).toMatchObject({ code: -32600 });
  pipe.input.end();
  await pipe.ended;
});
