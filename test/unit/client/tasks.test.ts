import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { type ConnectOptions, connect, type FormAsk, type Task, type TaskData } from "../../../src/client.ts";
import { VolleyError } from "../../../src/index.ts";
import { form, inputRequired, memory, type Seen, serve, TASKS, text } from "./fixtures.ts";
import { completed, handle, ID, methods, NOT_FOUND, nameAsk, paramsOf, task, taskServer } from "./task-fixtures.ts";

const ANN = { action: "accept", content: { name: "Ann" } };
const never = (): Promise<never> => new Promise(() => undefined);

describe("a call that becomes a task", () => {
  test("T2: the extension's example: followed, asked once, answered once, to its result", async () => {
    const asks: FormAsk[] = [];
    const transport = taskServer({
      get: [
        task("working"),
        task("input_required", { inputRequests: { name: nameAsk() } }),
        task("input_required", { inputRequests: { name: nameAsk() } }),
        task("working"),
        completed("Hello, Luca!"),
      ],
    });
    const client = await connect(transport, {
      form: async (ask) => {
        asks.push(ask);
        await delay(150);
        return { name: "Luca" };
      },
    });
    expect(await client.callTool("hello_world", {})).toEqual({
      resultType: "complete",
      content: [{ type: "text", text: "Hello, Luca!" }],
      isError: false,
    });
    expect(asks).toMatchObject([
      {
        key: "name",
        message: "Please enter your name.",
        round: 1,
        call: { method: "tools/call", target: "hello_world" },
      },
    ]);
    expect(paramsOf(transport, "tasks/update")).toEqual([
      { taskId: ID, inputResponses: { name: { action: "accept", content: { name: "Luca" } } } },
    ]);
    expect(paramsOf(transport, "tasks/get")).toEqual(Array(5).fill({ taskId: ID }));
    for (const { params } of transport.requests) {
      expect(params).toMatchObject({
        _meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} }, ...TASKS } },
      });
    }
    const ids = transport.requests.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("T2: over HTTP Mcp-Name is the task's id, encoded where it has to be", async () => {
    const taskId = "tâche 1";
    await using server = await serve(({ method }) => {
      if (method === "tools/call") return handle({ taskId });
      if (method === "tasks/get") return { resultType: "complete", ...completed("done"), taskId };
      return method === "tasks/cancel" ? { resultType: "complete" } : NOT_FOUND;
    });
    const client = await connect(server.url);
    await client.callTool("work");
    await client.task(taskId).cancel();
    for (const method of ["tasks/get", "tasks/cancel"]) {
      const [request] = server.of(method) as [Seen];
      expect(request.headers).toMatchObject({ "mcp-method": method, "mcp-name": "=?base64?dMOiY2hlIDE=?=" });
    }
  });

  test("T6: rounds first, then a task", async () => {
    let calls = 0;
    const transport = memory(({ method }) => {
      if (method === "tools/call") return calls++ === 0 ? inputRequired({ a: nameAsk() }, "s") : handle();
      return method === "tasks/get" ? { resultType: "complete", ...completed("done") } : NOT_FOUND;
    });
    const rounds: boolean[] = [];
    const client = await connect(transport, { form: () => ({ name: "Ann" }) });
    const result = await client.callTool("work", {}, { onRound: ({ done }) => rounds.push(done) });
    expect(result.content).toEqual([{ type: "text", text: "done" }]);
    expect(rounds).toEqual([false, true]);
  });

  test("T2: a failed task is its RpcError, a cancelled one a VolleyError, isError a result", async () => {
    const end = async (state: object, options: ConnectOptions = {}) =>
      (await connect(taskServer({ get: [state] }), options)).callTool("work");
    const error = { code: -32603, message: "API rate limit exceeded", data: { wait: 5 } };
    await expect(end(task("failed", { statusMessage: "Tool execution failed", error }))).rejects.toMatchObject({
      name: "RpcError",
      ...error,
    });
    await expect(end(task("cancelled", { statusMessage: "by an operator" }))).rejects.toMatchObject({
      code: "cancelled",
      message: `The task "${ID}" was cancelled: by an operator.`,
    });
    const result = { content: [{ type: "text", text: "invalid input" }], isError: true };
    expect(await end(task("completed", { result }))).toEqual({ resultType: "complete", ...result });
    await expect(end({ error: { code: -32602, message: "Task not found" } })).rejects.toMatchObject({ code: -32602 });
  });

  test("the result is held against the tool's output schema", async () => {
    const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const other = ({ method }: { method: string }) =>
      method === "tools/list"
        ? { resultType: "complete", tools: [{ name: "count", inputSchema: { type: "object" }, outputSchema }] }
        : NOT_FOUND;
    const run = async (n: unknown) => {
      const result = { content: [], structuredContent: { n } };
      return (await connect(taskServer({ get: [task("completed", { result })], other }))).callTool("count");
    };
    expect((await run(5)).structuredContent).toEqual({ n: 5 });
    await expect(run("five")).rejects.toMatchObject({
      code: "message_invalid",
      message: expect.stringContaining("output schema"),
    });
  });

  test("status messages are told, each state once, with the handle as plain data", async () => {
    const told: [Task, TaskData][] = [];
    const transport = taskServer({
      get: [
        task("working", { statusMessage: "1 of 2" }),
        task("working", { statusMessage: "1 of 2" }),
        completed("done"),
      ],
    });
    const client = await connect(transport);
    await client.callTool("work", {}, { onTask: (seen, data) => told.push([seen, data]) });
    expect(told.map(([{ status, statusMessage }]) => [status, statusMessage])).toEqual([
      ["working", undefined],
      ["working", "1 of 2"],
      ["completed", undefined],
    ]);
    expect(told[0]?.[1]).toEqual({
      type: "volley-mcp/task",
      version: 1,
      address: "memory",
      taskId: ID,
      tool: "work",
      wire: "extension",
      answers: [],
    });
  });

  test("looks as often as the server suggests, also when it changes its mind", async () => {
    const at: number[] = [];
    const seen = (state: object) => () => {
      at.push(performance.now());
      return state;
    };
    const transport = taskServer({
      call: handle({ pollIntervalMs: 200 }),
      get: [seen(task("working", { pollIntervalMs: 400 })), seen(completed("done"))],
    });
    const startedAt = performance.now();
    await (await connect(transport)).callTool("work");
    expect((at[0] ?? 0) - startedAt).toBeGreaterThan(195);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(395);
  });

  test("an interval of nothing is one of 100 ms", async () => {
    const transport = taskServer({
      call: handle({ pollIntervalMs: 0 }),
      get: [task("working", { pollIntervalMs: 0 })],
    });
    const client = await connect(transport);
    await expect(client.callTool("work", {}, { signal: AbortSignal.timeout(350) })).rejects.toMatchObject({
      code: "aborted",
    });
    expect(paramsOf(transport, "tasks/get").length).toBeLessThanOrEqual(3);
  });

  test("a task that has outlived its ttl is given up", async () => {
    const transport = taskServer({ call: handle({ ttlMs: 250 }), get: [task("working", { ttlMs: 250 })] });
    await expect((await connect(transport)).callTool("work")).rejects.toMatchObject({
      code: "timeout",
      message: expect.stringContaining("250 ms"),
    });
    expect(methods(transport)).not.toContain("tasks/cancel");
  });

  test("a server that cannot be reached for a while is asked again", async () => {
    let gets = 0;
    await using server = await serve(({ method }, reply) => {
      if (method === "tools/call") return handle();
      if (method !== "tasks/get") return NOT_FOUND;
      if (gets++ > 1) return { resultType: "complete", ...completed("done") };
      if (gets === 1) reply.destroy();
      else reply.writeHead(503).end();
      return undefined;
    });
    const result = await (await connect(server.url)).callTool("work");
    expect(result.content).toEqual([{ type: "text", text: "done" }]);
    expect(gets).toBe(3);
  });
});

describe("questions of a task", () => {
  test("a server that closes, or whose store is gone, is asked again, and gets each answer again", async () => {
    const closing = [503, { code: 50300, message: "The server is closing. Try again." }] as const;
    const broken = [500, { code: -32603, message: "Internal error" }] as const;
    const refusals = { "tasks/get": [closing], "tasks/update": [broken, closing] };
    const updates: unknown[] = [];
    let taken = false;
    await using server = await serve(({ id, method, params }, reply) => {
      if (method === "tools/call") return handle();
      if (method !== "tasks/get" && method !== "tasks/update") return NOT_FOUND;
      if (method === "tasks/update") updates.push(params?.inputResponses);
      const refusal = refusals[method].pop();
      if (refusal !== undefined) {
        const [status, error] = refusal;
        reply
          .writeHead(status, { "content-type": "application/json", "retry-after": "1" })
          .end(JSON.stringify({ jsonrpc: "2.0", id, error }));
        return undefined;
      }
      taken ||= method === "tasks/update";
      if (method === "tasks/update") return { resultType: "complete" };
      if (taken) return { resultType: "complete", ...completed("done") };
      return { resultType: "complete", ...task("input_required", { inputRequests: { a: nameAsk() } }) };
    });
    const client = await connect(server.url, { form: () => ({ name: "Ann" }) });
    expect((await client.callTool("work")).content).toEqual([{ type: "text", text: "done" }]);
    expect(updates).toEqual([{ a: ANN }, { a: ANN }, { a: ANN }]);
  });

  test("T3: each answer goes when it is there, those of one turn together; new questions come meanwhile", async () => {
    const updates: unknown[] = [];
    let slow: (answer: { name: string }) => void = () => undefined;
    const left = new Map<string, unknown>([
      ["a", nameAsk("quick")],
      ["b", nameAsk("quick")],
      ["c", nameAsk("slow")],
    ]);
    const transport = taskServer({
      get: [
        () =>
          left.size === 0 ? completed("done") : task("input_required", { inputRequests: Object.fromEntries(left) }),
      ],
      update: ({ params }) => {
        const responses = params?.inputResponses as object;
        updates.push(responses);
        for (const key of Object.keys(responses)) left.delete(key);
        if ("a" in responses) left.set("d", nameAsk("quick"));
        if ("d" in responses) slow({ name: "Cid" });
        return undefined;
      },
    });
    const rounds: [string, number][] = [];
    const client = await connect(transport, {
      form: (ask) => {
        rounds.push([ask.key, ask.round]);
        if (ask.message === "quick") return { name: "Ann" };
        return new Promise((resolve) => {
          slow = resolve;
        });
      },
    });
    await client.callTool("work");
    expect(updates).toEqual([{ a: ANN, b: ANN }, { d: ANN }, { c: { action: "accept", content: { name: "Cid" } } }]);
    expect(rounds).toEqual([
      ["a", 1],
      ["b", 1],
      ["c", 1],
      ["d", 2],
    ]);
  });

  test("a question that the task no longer asks is taken away; its answer is not sent", async () => {
    const reasons: unknown[] = [];
    const transport = taskServer({
      get: [task("input_required", { inputRequests: { a: nameAsk() } }), task("working"), completed("done")],
    });
    const client = await connect(transport, {
      form: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            resolve({ name: "too late" });
          });
        }),
    });
    await client.callTool("work");
    expect(reasons).toMatchObject([{ code: "closed" }]);
    expect(methods(transport)).not.toContain("tasks/update");
  });

  test("C10: what was not declared is not answered; a handler's failure is the call's, and cancels nothing", async () => {
    const asking = () => taskServer({ get: [task("input_required", { inputRequests: { a: nameAsk() } })] });
    const without = asking();
    await expect((await connect(without)).callTool("work")).rejects.toMatchObject({ code: "no_handler" });
    const failing = asking();
    const client = await connect(failing, {
      form: () => {
        throw new Error("no screen");
      },
    });
    await expect(client.callTool("work")).rejects.toThrow("no screen");
    for (const transport of [without, failing]) {
      expect(methods(transport)).not.toContain("tasks/update");
      expect(methods(transport)).not.toContain("tasks/cancel");
    }
  });

  test("answers that are refused: the end of the task counts more", async () => {
    const error = { code: -32602, message: "The task has ended" };
    const refused = (end: object) =>
      taskServer({
        get: [task("input_required", { inputRequests: { a: nameAsk() } }), end],
        update: () => ({ error }),
      });
    const run = async (end: object) =>
      (await connect(refused(end), { form: () => ({ name: "Ann" }) })).callTool("work");
    expect((await run(completed("done"))).content).toEqual([{ type: "text", text: "done" }]);
    await expect(run(task("working"))).rejects.toMatchObject(error);
  });

  test("C9: how often a task asks is bounded", async () => {
    let n = 0;
    const transport = taskServer({
      get: [() => task("input_required", { inputRequests: { [`k${n++}`]: nameAsk() } })],
    });
    const client = await connect(transport, { form: () => "decline", maxRounds: 2 });
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "round_limit" });
  });
});

describe("notifications", () => {
  const acknowledged = (taskIds?: string[]) => ({
    jsonrpc: "2.0" as const,
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: taskIds === undefined ? {} : { taskIds } },
  });
  const told = (params: Record<string, unknown>) => ({
    jsonrpc: "2.0" as const,
    method: "notifications/tasks",
    params,
  });

  test("T5: where the server tells of the task, nobody looks", async () => {
    const transport = taskServer({
      listen: async (_, notify) => {
        notify(acknowledged([ID]));
        await delay(20);
        notify(told({ ...completed("not this one"), taskId: "another" }));
        notify(told(task("input_required", { inputRequests: { name: nameAsk() } })));
        await vi.waitFor(() => expect(paramsOf(transport, "tasks/update")).toHaveLength(1));
        await delay(250);
        notify(told(completed("Hello, Ann!")));
        return never();
      },
    });
    const client = await connect(transport, { form: () => ({ name: "Ann" }) });
    expect((await client.callTool("work")).content).toEqual([{ type: "text", text: "Hello, Ann!" }]);
    expect(methods(transport)).toEqual(["tools/call", "subscriptions/listen", "tasks/update"]);
    expect(paramsOf(transport, "subscriptions/listen")).toEqual([{ notifications: { taskIds: [ID] } }]);
  });

  test("a notification without the whole state is a reason to look", async () => {
    const transport = taskServer({
      listen: (_, notify) => {
        notify(acknowledged([ID]));
        notify(told(task("completed")));
        return never();
      },
    });
    expect((await (await connect(transport)).callTool("work")).content).toEqual([{ type: "text", text: "done" }]);
  });

  test.each([
    ["has no subscriptions", () => NOT_FOUND],
    [
      "does not tell of tasks",
      (notify: (notification: never) => void) => {
        notify(acknowledged() as never);
        return never();
      },
    ],
  ])("a server that %s is looked at, and not asked again", async (_, answer) => {
    const transport = taskServer({ listen: (_request, notify) => answer(notify as never) });
    const client = await connect(transport);
    await client.callTool("work");
    await client.callTool("work");
    expect(methods(transport).filter((method) => method === "subscriptions/listen")).toHaveLength(1);
  });

  test("a stream that breaks is opened again, and the task is looked at", async () => {
    let opened = 0;
    const transport = taskServer({
      call: handle({ pollIntervalMs: 10_000 }),
      get: [task("working", { pollIntervalMs: 10_000 }), completed("done")],
      listen: async (_, notify) => {
        notify(acknowledged([ID]));
        if (opened++ > 0) return never();
        await delay(20);
        return { resultType: "complete" };
      },
    });
    expect((await (await connect(transport)).callTool("work")).content).toEqual([{ type: "text", text: "done" }]);
    expect(opened).toBe(2);
  });

  test("while a stream cannot be opened again, the task is looked at as without one", async () => {
    let opened = 0;
    const transport = taskServer({
      get: [task("working"), task("working"), task("working"), completed("done")],
      listen: async (_, notify) => {
        if (opened++ > 0) throw new VolleyError("connection_failed", "nobody is there");
        notify(acknowledged([ID]));
        await delay(20);
        throw new VolleyError("connection_failed", "it broke");
      },
    });
    expect((await (await connect(transport)).callTool("work")).content).toEqual([{ type: "text", text: "done" }]);
    expect(paramsOf(transport, "tasks/get")).toHaveLength(4);
  });
});

describe("giving up", () => {
  async function abort(options: { cancelOnAbort?: boolean }) {
    const reasons: unknown[] = [];
    const transport = taskServer({ get: [task("input_required", { inputRequests: { a: nameAsk() } })] });
    const client = await connect(transport, {
      form: ({ signal }) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        return never();
      },
    });
    const giving = new AbortController();
    const call = client.callTool("work", {}, { signal: giving.signal, ...options });
    await vi.waitFor(() => expect(methods(transport)).toContain("tasks/get"));
    await delay(20);
    giving.abort(new Error("enough"));
    await expect(call).rejects.toMatchObject({ code: "aborted", cause: new Error("enough") });
    expect(reasons).toHaveLength(1);
    await delay(150);
    return transport;
  }

  test("C9: the signal ends the call and its questions, and cancels the task", async () => {
    const transport = await abort({});
    expect(paramsOf(transport, "tasks/cancel")).toEqual([{ taskId: ID }]);
    expect(methods(transport).at(-1)).toBe("tasks/cancel");
  });

  test("T9: cancelOnAbort: false leaves the task alone", async () => {
    const transport = await abort({ cancelOnAbort: false });
    expect(methods(transport)).not.toContain("tasks/cancel");
  });

  test("closing the client cancels no task", async () => {
    const transport = taskServer({ get: [task("working")] });
    const client = await connect(transport);
    const call = client.callTool("work", {}, { signal: new AbortController().signal });
    await vi.waitFor(() => expect(methods(transport)).toContain("tasks/get"));
    await client.close();
    await expect(call).rejects.toBeInstanceOf(Error);
    expect(methods(transport)).not.toContain("tasks/cancel");
  });
});

describe("T9: a task where none may be", () => {
  const invalid = { code: "message_invalid" };

  test.each<[string, () => Promise<unknown>]>([
    ["prompts/get", async () => (await connect(memory(() => handle()))).getPrompt("p")],
    ["resources/read", async () => (await connect(memory(() => handle()))).readResource("a://b")],
    ["tools/list", async () => (await connect(memory(() => handle()))).listTools()],
    ["tasks/get", async () => (await connect(memory(() => handle()))).task(ID).get()],
    [
      "a call of a client that does not follow tasks",
      async () =>
        (
          await connect(
            memory(() => handle()),
            { tasks: false },
          )
        ).callTool("work"),
    ],
    [
      "a call, with a state to bring back",
      async () => (await connect(taskServer({ call: handle({ requestState: "s" }) }))).callTool("work"),
    ],
    [
      "a call, with questions",
      async () => (await connect(taskServer({ call: handle({ inputRequests: {} }) }))).callTool("work"),
    ],
  ])("%s", async (_, call) => {
    await expect(call()).rejects.toMatchObject(invalid);
  });

  test.each([
    { taskId: undefined },
    { taskId: "" },
    { status: "paused" },
    { statusMessage: 5 },
    { createdAt: undefined },
    { lastUpdatedAt: 0 },
    { ttlMs: -1 },
    { ttlMs: "1" },
    { pollIntervalMs: "1" },
  ])("a handle that is none: %j", async (broken) => {
    await expect((await connect(taskServer({ call: handle(broken) }))).callTool("work")).rejects.toMatchObject(invalid);
  });

  test.each([
    task("completed"),
    task("completed", { result: { content: "text" } }),
    task("completed", { result: { resultType: "input_required", requestState: "s" } }),
    task("completed", { result: handle() }),
    task("failed"),
    task("failed", { error: { code: "1", message: "no" } }),
    task("input_required"),
    task("input_required", { inputRequests: { a: { method: "tools/call" } } }),
    { ...completed("done"), taskId: "another" },
  ])("a state that is none: %j", async (state) => {
    const client = await connect(taskServer({ get: [state] }), { form: () => "decline" });
    await expect(client.callTool("work")).rejects.toMatchObject(invalid);
  });

  test("tasks: false declares nothing, and picks up nothing", async () => {
    const transport = memory(() => text("done"));
    const client = await connect(transport, { tasks: false });
    expect(client.capabilities).toEqual({});
    expect(() => client.task(ID)).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });
});

test("forms keep their limits in tasks", async () => {
  const ask = form({ code: { type: "string", minLength: 4 } }, ["code"]);
  const transport = taskServer({ get: [task("input_required", { inputRequests: { a: ask } })] });
  const client = await connect(transport, { form: () => ({ code: "1" }) });
  await expect(client.callTool("work")).rejects.toMatchObject({ code: "no_answer" });
});
