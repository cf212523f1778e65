import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type ConnectOptions, connect, type StartOptions, type TaskHandle } from "../../../src/client.ts";
import { inputRequired, type MemoryTransport, memory, TASKS, text } from "./fixtures.ts";
import { completed, handle, ID, methods, nameAsk, paramsOf, task, taskServer } from "./task-fixtures.ts";

const ANN = { action: "accept", content: { name: "Ann" } };
const asking = task("input_required", { inputRequests: { a: nameAsk(), b: nameAsk() } });

async function started(
  transport: MemoryTransport,
  options: StartOptions = {},
  connectOptions: ConnectOptions = {},
): Promise<TaskHandle> {
  const client = await connect(transport, connectOptions);
  const step = await client.start("tools/call", { name: "work" }, options);
  if (!step.done || step.task === undefined) throw new Error("it is no task");
  return step.task;
}

describe("a task by hand", () => {
  test("C11: start gives the handle, as plain data; nothing is followed", async () => {
    const transport = taskServer({});
    const made = await started(transport, { answers: ["form"] });
    const data = {
      type: "volley-mcp/task",
      version: 1,
      address: "memory",
      taskId: ID,
      tool: "work",
      wire: "extension",
      answers: ["form"],
    };
    expect(made.toJSON()).toEqual(data);
    expect(JSON.parse(JSON.stringify({ done: true, task: made }))).toEqual({ done: true, task: data });
    await delay(150);
    expect(methods(transport)).toEqual(["tools/call"]);
    expect(transport.requests[0]?.params).toMatchObject({
      _meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} }, ...TASKS } },
    });
  });

  test("T6: rounds by hand, then a task", async () => {
    let calls = 0;
    const transport = memory(() => (calls++ === 0 ? inputRequired({ a: nameAsk() }, "s") : handle()));
    const client = await connect(transport);
    const first = await client.start("tools/call", { name: "work" });
    if (first.done) throw new Error("it asks nothing");
    const again = client.resume(JSON.stringify(first));
    again.answer("a", { name: "Ann" });
    expect(await again.continue()).toMatchObject({ done: true, task: { id: ID } });
  });

  test("T3: some of the answers, checked as those of rounds; sent as they are", async () => {
    const transport = taskServer({ get: [asking] });
    const made = await started(transport);
    await expect(made.answer({ a: { nobody: "asks" } })).rejects.toMatchObject({ code: "no_answer" });
    await expect(made.answer(JSON.parse('{"toString":"decline"}'))).rejects.toMatchObject({
      code: "invalid_options",
      message: expect.stringContaining('"toString"'),
    });
    await made.answer({ a: { name: "Ann" } });
    await made.answer({ b: "decline" });
    expect(paramsOf(transport, "tasks/update")).toEqual([
      { taskId: ID, inputResponses: { a: ANN } },
      { taskId: ID, inputResponses: { b: { action: "decline" } } },
    ]);
    expect(await made.get()).toEqual(asking);
    await made.cancel();
    expect(paramsOf(transport, "tasks/cancel")).toEqual([{ taskId: ID }]);
  });

  test("result() leaves to answer() what is answered by hand, and asks the handlers for the rest", async () => {
    let left: Record<string, unknown> = { a: nameAsk() };
    const transport = taskServer({
      get: [
        () => (Object.keys(left).length === 0 ? completed("done") : task("input_required", { inputRequests: left })),
      ],
      update: () => {
        left = {};
        return undefined;
      },
    });
    const made = await started(transport);
    const ending = made.result();
    await delay(250);
    expect(methods(transport)).not.toContain("tasks/update");
    await made.answer({ a: { name: "Ann" } });
    expect((await ending).content).toEqual([{ type: "text", text: "done" }]);
    expect(paramsOf(transport, "tasks/update")).toEqual([{ taskId: ID, inputResponses: { a: ANN } }]);
  });

  test("result() with a signal stops following; the task is cancelled only when that is asked for", async () => {
    const transport = taskServer({ get: [task("working")] });
    const made = await started(transport);
    await expect(made.result({ signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ code: "aborted" });
    expect(methods(transport)).not.toContain("tasks/cancel");
    const both = { signal: AbortSignal.timeout(50), cancelOnAbort: true };
    await expect(made.result(both)).rejects.toMatchObject({ code: "aborted" });
    expect(methods(transport).filter((method) => method === "tasks/cancel")).toHaveLength(1);
  });
});

describe("picked up in another process", () => {
  test.each([
    ["data", (made: TaskHandle): unknown => made.toJSON()],
    ["text", (made: TaskHandle): unknown => JSON.stringify(made)],
  ])("C11: by %s, with the tool's output schema", async (_, saved) => {
    const outputSchema = { type: "object", properties: { n: { type: "integer" } } };
    const transport = taskServer({
      get: [task("completed", { result: { content: [], structuredContent: { n: "five" } } })],
      other: () => ({
        resultType: "complete",
        tools: [{ name: "work", inputSchema: { type: "object" }, outputSchema }],
      }),
    });
    const data = saved(await started(transport));
    const again = (await connect(transport)).task(data as string);
    await expect(again.result()).rejects.toMatchObject({ code: "message_invalid" });
  });

  test("by its id alone: handlers are asked what the task still asks", async () => {
    const transport = taskServer({ get: [asking, completed("done")] });
    const client = await connect(transport, { form: ({ key }) => (key === "a" ? { name: "Ann" } : "decline") });
    expect((await client.task(ID).result()).content).toEqual([{ type: "text", text: "done" }]);
    expect(methods(transport)[0]).toBe("tasks/get");
    expect(paramsOf(transport, "tasks/update")).toEqual([
      { taskId: ID, inputResponses: { a: ANN, b: { action: "decline" } } },
    ]);
    await expect((await connect(taskServer({ get: [asking] }))).task(ID).result()).rejects.toMatchObject({
      code: "no_handler",
    });
  });

  test.each([
    "",
    "{}",
    '{"type":"volley-mcp/pending-round"}',
    { type: "volley-mcp/task", version: 2, address: "memory", taskId: ID, wire: "extension", answers: [] },
    { type: "volley-mcp/task", version: 1, address: "memory", taskId: "", wire: "extension", answers: [] },
  ])("what is no task: %j", async (data) => {
    const client = await connect(memory(() => text("done")));
    expect(() => client.task(data as string)).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });
});
