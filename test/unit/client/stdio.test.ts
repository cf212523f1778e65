import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Client, type ConnectOptions, connect, type LogEntry, type StdioServer } from "../../../src/client.ts";

const script = fileURLToPath(new URL("stdio-server.mjs", import.meta.url));
const open: Client[] = [];

async function start(mode = "plain", options: ConnectOptions = {}, server: Partial<StdioServer> = {}): Promise<Client> {
  const client = await connect(
    { command: process.execPath, args: [script, mode], stderr: "ignore", ...server },
    { onWarning: () => {}, ...options },
  );
  open.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function say(client: Client, name: string): Promise<string> {
  const { content } = await client.callTool(name);
  return content[0]?.type === "text" ? content[0].text : "";
}

describe("stdio", () => {
  test("the server is asked who it is before anything else", async () => {
    const client = await start();
    expect(client.server).toMatchObject({
      name: "by-hand",
      version: "1",
      address: expect.stringContaining("stdio-server.mjs"),
    });
    const heard = JSON.parse(await say(client, "heard"));
    expect(heard.map(({ id, method }: { id: number; method: string }) => [id, method])).toEqual([
      [1, "server/discover"],
      [2, "tools/call"],
    ]);
    expect(heard[1].params._meta["io.modelcontextprotocol/protocolVersion"]).toBe("2026-07-28");
  });

  test("requests overlap, and each gets its own answer and progress", async () => {
    const client = await start();
    const seen: string[] = [];
    const call = (name: string): Promise<unknown> =>
      client.callTool(name, {}, { onProgress: ({ progress }) => seen.push(`${name} ${progress}`) });
    expect(await Promise.all([call("slow"), call("fast")])).toMatchObject([
      { content: [{ text: "slow" }] },
      { content: [{ text: "fast" }] },
    ]);
    expect(seen.sort()).toEqual(["fast 1", "fast 2", "slow 1", "slow 2"]);
  });

  test("log messages reach the request that wants them", async () => {
    const client = await start();
    const logged: LogEntry[] = [];
    await client.callTool("work", {}, { onLog: (entry) => logged.push(entry) });
    await client.callTool("work");
    expect(logged).toEqual([{ level: "info", logger: undefined, data: "work" }]);
  });

  test("a line in pieces, with a carriage return", async () => {
    expect(await say(await start(), "pieces")).toBe("é🌍");
  });

  test("what is no answer is passed over with a warning, and stderr goes where it is sent", async () => {
    const warnings: string[] = [];
    const lines: string[] = [];
    const client = await start(
      "plain",
      { onWarning: (warning) => warnings.push(warning) },
      { stderr: (line) => lines.push(line) },
    );
    expect(await say(client, "noise")).toBe("done");
    expect(warnings).toHaveLength(2);
    await vi.waitFor(() => expect(lines.join("")).toBe("a log line\n"));
  });

  test("H6: giving up sends notifications/cancelled for that request alone", async () => {
    const client = await start();
    const abort = new AbortController();
    const given = client.callTool("wait", {}, { signal: abort.signal });
    setTimeout(() => abort.abort(), 20);
    await expect(given).rejects.toMatchObject({ code: "aborted" });
    await expect(client.callTool("wait", {}, { timeoutMs: 20 })).rejects.toMatchObject({ code: "timeout" });
    const heard = JSON.parse(await say(client, "heard")).filter(
      ({ method }: { method: string }) => method === "notifications/cancelled",
    );
    expect(heard).toEqual([
      { method: "notifications/cancelled", params: { requestId: 2, reason: expect.any(String) } },
      { method: "notifications/cancelled", params: { requestId: 3, reason: expect.any(String) } },
    ]);
  });

  test("a server gets the variables that are given and the harmless ones, no others", async () => {
    process.env.VOLLEY_TEST_SECRET = "s";
    try {
      const names: string[] = JSON.parse(await say(await start("plain", {}, { env: { GIVEN: "1" } }), "env"));
      expect(names).toContain("GIVEN");
      expect(names).toContain("PATH");
      expect(names).not.toContain("VOLLEY_TEST_SECRET");
    } finally {
      delete process.env.VOLLEY_TEST_SECRET;
    }
  });

  test("V3: an older server is one clear error, and its process is ended", async () => {
    await expect(start("legacy")).rejects.toMatchObject({
      code: "legacy_server",
      message: expect.stringContaining("2026-07-28"),
    });
    await expect(start("silent", { legTimeoutMs: 300 })).rejects.toMatchObject({ code: "legacy_server" });
  });

  test("a program that cannot be started, or ends, is a broken connection", async () => {
    await expect(connect({ command: "no-such-program-here" })).rejects.toMatchObject({
      code: "connection_failed",
      message: expect.stringContaining("ENOENT"),
    });
    await expect(start("crash")).rejects.toMatchObject({
      code: "connection_failed",
      message: expect.stringContaining("exit code 3"),
    });
    const client = await start();
    const waiting = client.callTool("wait");
    await expect(client.callTool("die")).rejects.toMatchObject({
      code: "connection_failed",
      message: expect.stringContaining("exit code 7"),
    });
    await expect(waiting).rejects.toMatchObject({ code: "connection_failed" });
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "connection_failed" });
  });

  test("case 54: a server that has ended is noticed though its child holds the output", async () => {
    const client = await start("plain", {}, { stderr: () => {} });
    const startedAt = performance.now();
    const waiting = client.callTool("wait");
    waiting.catch(() => {});
    const error = await client.callTool("orphan").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "connection_failed", message: expect.stringContaining("exit code 3") });
    await expect(waiting).rejects.toMatchObject({ code: "connection_failed" });
    const next = await client.callTool("work").catch((reason: unknown) => reason);
    expect(next).toMatchObject({ code: "connection_failed", message: (error as Error).message });
    expect(next).not.toBe(error);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test("case 54: what it had written before it ended is read", async () => {
    const client = await start();
    const result = await client.callTool("orphan", { answers: true });
    expect(result.content).toEqual([{ type: "text", text: "x".repeat(60_000) }]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "connection_failed" });
  });

  test("case 17: a server of this revision that refuses to describe itself is not taken for an older one", async () => {
    await expect(start("refusing")).rejects.toMatchObject({ name: "RpcError", code: -32021 });
  });

  test("connecting can be given up", async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 100);
    await expect(start("silent", { signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
  });

  test("close() ends the input and waits; a server that stays is terminated, then killed", async () => {
    const polite = await start();
    const waiting = polite.callTool("wait");
    const expected = expect(waiting).rejects.toMatchObject({ code: "closed" });
    const before = performance.now();
    await polite.close();
    await expected;
    expect(performance.now() - before).toBeLessThan(1_500);
    const deaf = await start("deaf", {}, { graceMs: 100 });
    const began = performance.now();
    await deaf.close();
    expect(performance.now() - began).toBeGreaterThan(190);
    await deaf.close();
  });

  test("C13: listen is sent again when the server ends it, while the process lives", async () => {
    const client = await start();
    const events: unknown[] = [];
    for await (const event of client.subscribe({ toolsListChanged: true }, { pace: () => 0 })) {
      events.push(event);
      if (event.type === "tools_changed") break;
    }
    expect(events).toEqual([
      { type: "acknowledged", notifications: { toolsListChanged: true } },
      { type: "gap", notifications: { toolsListChanged: true }, resources: [] },
      { type: "tools_changed" },
    ]);
    const heard = JSON.parse(await say(client, "heard"));
    const methods = heard.map(({ method }: { method: string }) => method);
    expect(methods.filter((method: string) => method === "subscriptions/listen")).toHaveLength(2);
    expect(methods.filter((method: string) => method === "notifications/cancelled")).toHaveLength(1);
  });

  test("C13: a subscription ends with an error when the process does", async () => {
    const client = await start();
    const subscription = client.subscribe({ toolsListChanged: true }, { pace: () => 0 });
    await subscription.next();
    await subscription.next();
    await client.callTool("die").catch(() => {});
    const rest: unknown[] = [];
    const reading = (async () => {
      for await (const event of subscription) rest.push(event);
    })();
    await expect(reading).rejects.toMatchObject({ code: "connection_failed" });
  });
});
