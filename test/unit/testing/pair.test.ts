import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createServer, type Server, type ServerOptions, type TraceEvent } from "../../../src/index.ts";
import { createMemoryLedger } from "../../../src/ledger/memory.ts";
import { createPair } from "../../../src/testing.ts";

interface Slow {
  readonly server: Server;
  /** Why each run was told to stop. */
  readonly stopped: unknown[];
}

/** A server whose tool takes a second and heeds nothing. */
function slow(): Slow {
  const stopped: unknown[] = [];
  const server = createServer({ name: "slow", version: "1.0.0", singleInstance: true });
  server.tool("t", {}, async (_, ctx) => {
    ctx.signal.addEventListener("abort", () => stopped.push(ctx.signal.reason));
    await sleep(1_000);
    return "done";
  });
  return { server, stopped };
}

describe("rule 14: a call by createPair ends as it would over HTTP", () => {
  test("given up by its signal while the handler runs", async () => {
    const { server, stopped } = slow();
    await using client = await createPair(server);
    const startedAt = performance.now();
    await expect(client.callTool("t", {}, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      code: "aborted",
    });
    expect(performance.now() - startedAt).toBeLessThan(800);
    expect(stopped).toHaveLength(1);
  });

  test("not answered within timeoutMs", async () => {
    const { server, stopped } = slow();
    await using client = await createPair(server);
    const startedAt = performance.now();
    await expect(client.callTool("t", {}, { timeoutMs: 50 })).rejects.toMatchObject({ code: "timeout" });
    expect(performance.now() - startedAt).toBeLessThan(800);
    expect(stopped).toHaveLength(1);
  });

  test("the client is closed", async () => {
    const { server, stopped } = slow();
    const client = await createPair(server);
    const call = client.callTool("t");
    await sleep(20);
    await client.close();
    await expect(call).rejects.toMatchObject({ code: "closed" });
    expect(stopped).toHaveLength(1);
    await expect(client.callTool("t")).rejects.toMatchObject({ code: "closed" });
  });

  test("a signal that has fired sends nothing", async () => {
    const { server, stopped } = slow();
    await using client = await createPair(server);
    await expect(client.callTool("t", {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
    expect(stopped).toEqual([]);
  });
});

describe("rule 14: `once` is held to the rules of production", () => {
  function shop(options: Partial<ServerOptions> = {}): { server: Server; done: string[]; faults: unknown[] } {
    const done: string[] = [];
    const faults: unknown[] = [];
    const trace = (event: TraceEvent): void => void (event.type === "fault" && faults.push(event.error));
    const server = createServer({ name: "shop", version: "1.0.0", trace, ...options });
    server.tool("charge", {}, (_, ctx) =>
      ctx.once("charge", () => {
        done.push("charge");
        return "charged";
      }),
    );
    return { server, done, faults };
  }

  test("a record of this process alone is refused, and says what to decide", async () => {
    const { server, done, faults } = shop();
    await using client = await createPair(server);
    expect((await client.callTool("charge")).isError).toBe(true);
    expect(done).toEqual([]);
    expect(faults).toMatchObject([
      { code: "invalid_options", message: expect.stringMatching(/`ledger`.*`singleInstance: true`/) },
    ]);
  });

  test.each<[string, () => Partial<ServerOptions>]>([
    ["the only process", () => ({ singleInstance: true })],
    ["a shared ledger", () => ({ ledger: { ...createMemoryLedger(), shared: true } })],
  ])("%s passes", async (_, options) => {
    const { server, done } = shop(options());
    await using client = await createPair(server);
    expect((await client.callTool("charge")).content).toEqual([{ type: "text", text: "charged" }]);
    expect(done).toEqual(["charge"]);
  });

  test("over stdio a server is its client's alone", async () => {
    const { server, done } = shop();
    await using client = await createPair(server, { over: "stdio" });
    expect((await client.callTool("charge")).isError).toBeUndefined();
    expect(done).toEqual(["charge"]);
  });
});

test("whoever answers a confirm with another field is told the field's name", async () => {
  const server = createServer({ name: "shop", version: "1.0.0", singleInstance: true });
  server.tool("t", {}, async (_, ctx) => `${await ctx.confirm("sure", "Sure?")}`);
  await using client = await createPair(server, { form: () => ({ yes: true }) });
  await expect(client.callTool("t")).rejects.toMatchObject({
    code: "no_answer",
    message: 'The form "sure" was answered unusably 3 times: confirm: "Yes" is required.',
  });
  const round = await client.start("tools/call", { name: "t" });
  if (round.done) throw new Error("asked nothing");
  expect(() => round.answer("sure", { yes: true })).toThrow(
    'The answer to "sure" cannot be used. confirm: "Yes" is required.',
  );
});
