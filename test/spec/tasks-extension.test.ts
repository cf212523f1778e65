// The examples of the extension `io.modelcontextprotocol/tasks`, message by message, over HTTP. Its requests get the rest
// of their `_meta`; ids and times are ours.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { RpcError, ToolError } from "../../src/index.ts";
import { hasSqlite, type Rig, rig } from "../unit/tasks/harness.ts";
import { type Entry, openNode } from "./http-entry.ts";

const EXAMPLE_ID = "786512e2-9e0d-44bd-8f29-789f320fe840";
const NAME = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Please enter your name.",
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  },
} as const;
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const TIMES = { createdAt: ISO, lastUpdatedAt: ISO, ttlMs: 3_600_000, pollIntervalMs: 5_000 };

describe.skipIf(!hasSqlite)("the extension's examples", () => {
  let on: Rig;
  let entry: Entry;
  let taskId = EXAMPLE_ID;
  beforeAll(async () => {
    const Name = z.object({ name: z.string() });
    on = await rig(
      (server) => {
        server.tool("hello_world", { task: "required" }, async (_args, ctx) => {
          const { name } = await ctx.elicit("name", { message: "Please enter your name.", schema: Name });
          return { content: [{ type: "text", text: `Hello, ${name}!` }], isError: false };
        });
        server.tool("limited", { task: "required" }, () => {
          throw new RpcError(-32603, "API rate limit exceeded");
        });
        server.tool("invalid", { task: "required" }, () => {
          throw new ToolError("Failed to process request: invalid input");
        });
        server.tool("get_weather", { task: "required", input: z.object({ city: z.string() }) }, () => "sunny");
      },
      { tasks: { pollIntervalMs: 5_000 }, server: { audience: "https://hello.example/mcp" } },
    );
    entry = await openNode(on.server);
  });
  afterAll(async () => {
    await entry?.close();
    await on?.[Symbol.asyncDispose]();
  });

  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  async function send(literal: any, headers: Record<string, string | undefined> = {}): Promise<any> {
    const sent = JSON.parse(JSON.stringify(literal).replaceAll(EXAMPLE_ID, taskId));
    sent.params._meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {
        elicitation: {},
        extensions: { "io.modelcontextprotocol/tasks": {} },
      },
      ...sent.params._meta,
    };
    const name = sent.params.taskId ?? sent.params.name;
    const { json } = await entry.send({ body: sent, headers: { "mcp-name": name, ...headers } });
    delete json.result?._meta;
    return json;
  }

  const get = (id: number): object => ({ jsonrpc: "2.0", id, method: "tasks/get", params: { taskId: EXAMPLE_ID } });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  async function until(id: number, status: string): Promise<any> {
    for (let look = 0; look < 200; look++) {
      const answer = await send(get(id));
      if (answer.result.status === status) return answer;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`never ${status}`);
  }

  test("T2: hello_world, from the call to the greeting", async () => {
    const created = await send({
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name: "hello_world", arguments: {} },
    });
    taskId = created.result.taskId;
    expect(created).toEqual({
      jsonrpc: "2.0",
      id: 2,
      result: { resultType: "task", taskId, status: "working", ...TIMES },
    });
    const asked = {
      jsonrpc: "2.0",
      result: {
        resultType: "complete",
        taskId,
        status: "input_required",
        ...TIMES,
        inputRequests: { name: NAME },
      },
    };
    expect(await until(4, "input_required")).toEqual({ ...asked, id: 4 });
    // The same again, word for word, before anybody has answered.
    expect(await send(get(5))).toEqual({ ...asked, id: 5 });

    // The example's answer holds "input" where "name" was asked for: acknowledged, and asked again under another key.
    const update = (key: string, content: object): object => ({
      jsonrpc: "2.0",
      id: 6,
      method: "tasks/update",
      params: { taskId: EXAMPLE_ID, inputResponses: { [key]: { action: "accept", content } } },
    });
    const acknowledged = { jsonrpc: "2.0", id: 6, result: { resultType: "complete" } };
    expect(await send(update("name", { input: "Luca" }))).toEqual(acknowledged);
    const again = await until(7, "input_required");
    expect(Object.keys(again.result.inputRequests)).toEqual(["name#2"]);
    expect(await send(update("name#2", { name: "Luca" }))).toEqual(acknowledged);
    expect(await until(8, "completed")).toEqual({
      jsonrpc: "2.0",
      id: 8,
      result: {
        resultType: "complete",
        taskId,
        status: "completed",
        ...TIMES,
        result: {
          resultType: "complete",
          content: [{ type: "text", text: "Hello, Luca!" }],
          isError: false,
          _meta: expect.any(Object),
        },
      },
    });
  });

  test("T1, T9: a call becomes a handle without requestState, inputRequests or result", async () => {
    const call = { name: "get_weather", arguments: { city: "New York" } };
    const { result } = await send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call });
    expect(Object.keys(result).sort()).toEqual([
      "createdAt",
      "lastUpdatedAt",
      "pollIntervalMs",
      "resultType",
      "status",
      "taskId",
      "ttlMs",
    ]);
  });

  test("T9: failed is for a JSON-RPC error, a tool's own error is completed", async () => {
    const start = async (name: string): Promise<void> => {
      const { result } = await send({ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name } });
      taskId = result.taskId;
    };
    await start("limited");
    expect((await until(4, "failed")).result).toEqual({
      resultType: "complete",
      taskId,
      status: "failed",
      ...TIMES,
      statusMessage: "API rate limit exceeded",
      error: { code: -32603, message: "API rate limit exceeded" },
    });
    await start("invalid");
    expect((await until(5, "completed")).result.result).toMatchObject({
      content: [{ type: "text", text: "Failed to process request: invalid input" }],
      isError: true,
    });
  });

  test("T9: a client that does not declare tasks is told what is missing", async () => {
    const error = {
      jsonrpc: "2.0",
      id: 1,
      error: {
        code: -32021,
        message: expect.any(String),
        data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
      },
    };
    const _meta = { "io.modelcontextprotocol/clientCapabilities": {} };
    expect(await send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "limited", _meta } })).toEqual(
      error,
    );
    const watched = { taskIds: [EXAMPLE_ID] };
    expect(
      await send({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: { notifications: watched, _meta } }),
    ).toEqual(error);
  });

  test("T2, case 10: Mcp-Name is the task's id, in base64 where it has to be", async () => {
    taskId = EXAMPLE_ID;
    const notFound = { jsonrpc: "2.0", id: 70, error: { code: -32602, message: "Task not found" } };
    expect(await send(get(70))).toEqual(notFound);
    const odd = { jsonrpc: "2.0", id: 70, method: "tasks/get", params: { taskId: "é ☕" } };
    const encoded = `=?base64?${Buffer.from("é ☕").toString("base64")}?=`;
    expect(await send(odd, { "mcp-name": encoded })).toEqual(notFound);
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const request = { jsonrpc: "2.0", id: 71, method, params: { taskId: EXAMPLE_ID, inputResponses: {} } };
      expect((await send(request)).error).toEqual(notFound.error);
      expect((await send(request, { "mcp-name": "another" })).error.code).toBe(-32020);
      expect((await send(request, { "mcp-name": undefined })).error.code).toBe(-32020);
      expect((await send({ ...request, params: {} }, { "mcp-name": "x" })).error.code).toBe(-32602);
    }
  });

  test("X4: one handler by rounds and as a task, unchanged", async () => {
    await using two = await rig(
      (server) => {
        const input = z.object({ n: z.number() });
        for (const task of [undefined, "optional"] as const) {
          server.tool(`add_${task}`, { input, ...(task && { task }) }, async ({ n }, ctx) => {
            const base = await ctx.step("base", () => n * 10);
            const [{ name }, sure] = await Promise.all([
              ctx.elicit("name", { message: "Who?", schema: z.object({ name: z.string() }) }),
              ctx.confirm("sure", "Sure?"),
            ]);
            const total = await ctx.once("add", () => base + 1);
            return `${name} ${sure} ${total}`;
          });
        }
      },
      { server: { singleInstance: true } },
    );
    const answers = {
      name: { action: "accept", content: { name: "Ann" } },
      sure: { action: "accept", content: { confirm: true } },
    };
    const asked = await two.call("add_undefined", { n: 4 });
    const rounds = await two.call(
      "add_undefined",
      { n: 4 },
      { requestState: asked.requestState, inputResponses: answers },
    );
    const handle = await two.call("add_optional", { n: 4 });
    const waiting = await two.until(handle.taskId, "input_required");
    expect(waiting.inputRequests).toEqual(asked.inputRequests);
    await two.update(handle.taskId, answers);
    const ended = await two.until(handle.taskId, "completed");
    expect(ended.result).toEqual(rounds);
    expect(rounds.content).toEqual([{ type: "text", text: "Ann true 41" }]);
  });
});
