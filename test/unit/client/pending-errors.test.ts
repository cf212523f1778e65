import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { type ConnectOptions, connect, pendingOf } from "../../../src/client.ts";
import { form, inputRequired, memory, type Script, sendJson, serve, text } from "./fixtures.ts";

const LOGIN = form({ name: { type: "string" } }, ["name"], "Your name");
const ANN = { action: "accept", content: { name: "Ann" } };

/** Asks once; the leg with the answer meets `trouble` the first time, then says what it has got. */
function troubled(trouble: Script): Script {
  let met = false;
  return (seen, reply) => {
    const { method, params } = seen;
    if (method === "tools/list") return { resultType: "complete", tools: [] };
    if (params.requestState === undefined) return inputRequired({ login: LOGIN }, "one");
    if (!met) {
      met = true;
      return trouble(seen, reply);
    }
    return text(JSON.stringify([params.requestState, params.inputResponses, params.arguments]));
  };
}

const failure =
  (status: number, code: number): Script =>
  ({ id }, reply) =>
    sendJson(reply, status, { jsonrpc: "2.0", id, error: { code, message: "no" } });

const troubles: [string, Script, object][] = [
  ["a reset", (_seen, reply) => void reply.destroy(), { code: "connection_failed" }],
  ["502", (_seen, reply) => void reply.writeHead(502).end(), { code: "connection_failed" }],
  ["a bare 503", (_seen, reply) => void reply.writeHead(503).end(), { code: "connection_failed" }],
  [
    "429 for longer than anybody waits",
    (_seen, reply) => void reply.writeHead(429, { "retry-after": "3600" }).end(),
    { code: "connection_failed", cause: { status: 429 } },
  ],
  ["silence", () => undefined, { code: "timeout" }],
  ["an internal error", failure(500, -32603), { name: "RpcError", code: -32603 }],
  ["a page", (_seen, reply) => void reply.writeHead(200).end("<h1>Hello</h1>"), { code: "message_invalid" }],
];

describe.each(troubles)("attack 11: %s after an answer", (_name, trouble, thrown) => {
  test("loses nothing: the error has what goes on, and nobody is asked again", async () => {
    await using server = await serve(troubled(trouble));
    let asked = 0;
    const options: ConnectOptions = {
      legTimeoutMs: 300,
      form: () => {
        asked++;
        return { name: "Ann" };
      },
    };
    const client = await connect(server.url, options);
    const error = await client.callTool("work", { a: 1 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject(thrown);
    const pending = pendingOf(error);
    expect(JSON.parse(JSON.stringify(pending))).toEqual({
      type: "volley-mcp/pending-round",
      version: 1,
      address: server.url,
      method: "tools/call",
      params: { name: "work", arguments: { a: 1 } },
      round: 1,
      lastId: expect.any(Number),
      answers: [],
      requests: { login: LOGIN },
      inputResponses: { login: ANN },
      requestState: "one",
    });
    expect((error as { pending?: unknown }).pending).toBe(pending);
    await client.close();

    const later = await connect(server.url, options);
    const resumed = later.resume(JSON.parse(JSON.stringify(pending)));
    expect(resumed.openKeys).toEqual([]);
    expect(await resumed.continue()).toEqual({
      done: true,
      result: text(JSON.stringify(["one", { login: ANN }, { a: 1 }])),
    });
    expect(asked).toBe(1);
    await later.close();
  });
});

test("attack 11: a rate limit that passes is waited for, and nobody is asked again", async () => {
  await using server = await serve(troubled((_seen, reply) => void reply.writeHead(429, { "retry-after": "1" }).end()));
  let asked = 0;
  const client = await connect(server.url, {
    form: () => {
      asked++;
      return { name: "Ann" };
    },
  });
  expect(await client.callTool("work", { a: 1 })).toEqual(text(JSON.stringify(["one", { login: ANN }, { a: 1 }])));
  expect(asked).toBe(1);
  await client.close();
});

test("attack 11: a ticket is not lost either", async () => {
  let calls = 0;
  const transport = memory(() => {
    calls += 1;
    if (calls === 2) throw new Error("the network is gone");
    return calls === 1 ? inputRequired(undefined, "ticket") : text("done");
  });
  const client = await connect(transport, { pace: () => 0 });
  const error = await client.callTool("work").catch((reason: unknown) => reason);
  expect(error).toMatchObject({ message: "the network is gone" });
  expect(pendingOf(error)).toMatchObject({ round: 1, requests: {}, inputResponses: {}, requestState: "ticket" });
  expect(await client.resume(pendingOf(error)).continue()).toMatchObject({ done: true });
  expect(transport.requests[2]?.params).toMatchObject({ requestState: "ticket" });
  expect(transport.requests[2]?.params).not.toHaveProperty("inputResponses");
});

test("attack 11: what was answered in earlier rounds is in the error of a later question, too", async () => {
  const transport = memory(({ params }) =>
    params?.requestState === undefined ? inputRequired({ a: LOGIN }, "one") : inputRequired({ b: LOGIN }, "two"),
  );
  const ending = new AbortController();
  const client = await connect(transport, {
    form: ({ key }) => {
      if (key === "a") return { name: "Ann" };
      ending.abort();
      return new Promise(() => {});
    },
  });
  const error = await client.callTool("work", {}, { signal: ending.signal }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "aborted" });
  expect(pendingOf(error)).toMatchObject({ round: 2, requests: { b: LOGIN }, inputResponses: {}, requestState: "two" });
});

test("C9: maxRounds ends a call, which may go on with more", async () => {
  const transport = memory(({ params }) =>
    params?.requestState === "two" ? text("done") : inputRequired({ a: LOGIN }, params?.requestState ? "two" : "one"),
  );
  const client = await connect(transport, { form: () => ({ name: "Ann" }), maxRounds: 1 });
  const error = await client.callTool("work").catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "round_limit" });
  const resumed = client.resume(pendingOf(error));
  resumed.answer("a", { name: "Bob" });
  expect(await resumed.continue({ maxRounds: 2 })).toEqual({ done: true, result: text("done") });
});

test("nothing is pending after a first leg, nor where the state was refused", async () => {
  const first = await connect(memory(() => ({ error: { code: -32603, message: "no" } })));
  expect(pendingOf(await first.callTool("work").catch((reason: unknown) => reason))).toBeUndefined();
  const refusing = memory(({ params }) =>
    params?.requestState === undefined
      ? inputRequired({ a: LOGIN }, "one")
      : { error: { code: -32602, message: "Start again.", data: { reason: "state_refused" } } },
  );
  const second = await connect(refusing, { form: () => ({ name: "Ann" }) });
  const error = await second.callTool("work").catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: -32602 });
  expect(pendingOf(error)).toBeUndefined();
  for (const other of [undefined, null, "x", new Error("x"), Object.assign(new Error("x"), { pending: true })])
    expect(pendingOf(other)).toBeUndefined();
});

test("what people said is not printed with the error", async () => {
  await using server = await serve(troubled((_seen, reply) => void reply.destroy()));
  const client = await connect(server.url, { form: () => ({ name: "Ann" }) });
  const error = await client.callTool("work").catch((reason: unknown) => reason);
  expect(pendingOf(error)).toBeDefined();
  expect(inspect(error, { depth: null })).not.toContain("Ann");
  expect(JSON.stringify(error)).not.toContain("Ann");
  await client.close();
});
