// The example flow of SEP-2322, message by message; `resultType` and the place of `_meta` are those of the release.
import { describe, expect, test } from "vitest";
import { connect } from "../../../src/client.ts";
import { inputRequired, memory, type Seen, serve } from "./fixtures.ts";
import { methods, NOT_FOUND } from "./task-fixtures.ts";

const ID = "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5";
const RELATED = { "io.modelcontextprotocol/related-task": { taskId: ID } };
const CREATED = "2026-01-27T03:32:48.3148180Z";

function state(status: string, statusMessage: string): Record<string, unknown> {
  return {
    taskId: ID,
    status,
    statusMessage,
    createdAt: CREATED,
    lastUpdatedAt: CREATED,
    ttl: 60_000,
    pollInterval: 100,
  };
}

const HANDLE = { task: state("working", "A task for the echo tool.") };
const ASKS = {
  resultType: "input_required",
  inputRequests: {
    echo_input: {
      method: "elicitation/create",
      params: {
        mode: "form",
        message: "Please provide the input string to echo back",
        requestedSchema: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
      },
    },
  },
  _meta: RELATED,
};
const RESULT = {
  resultType: "complete",
  isError: false,
  content: [{ type: "text", text: "Echo: Hello World!" }],
  _meta: RELATED,
};
const needsInput = state("input_required", "Input is needed, call tasks/result.");
const isDone = state("completed", "Done, call tasks/result.");

/** Plays the server's side of the example. */
function script(answers: Readonly<Record<string, readonly unknown[]>>) {
  const counts = new Map<string, number>();
  return ({ method }: { readonly method: string }): unknown => {
    const all = answers[method];
    if (all === undefined) return NOT_FOUND;
    const count = counts.get(method) ?? 0;
    counts.set(method, count + 1);
    return all[Math.min(count, all.length - 1)];
  };
}

describe("T8: the wire of SEP-2322", () => {
  test.each([
    ["with", "task"],
    ["without", undefined],
  ])("every message of its example, %s the release's resultType", async (_, resultType) => {
    await using server = await serve(
      script({
        "tools/call": [{ ...(resultType === undefined ? {} : { resultType }), ...HANDLE }],
        "tasks/get": [needsInput, isDone],
        "tasks/result": [ASKS, RESULT],
        "tasks/input_response": [{ _meta: RELATED }],
      }),
    );
    const client = await connect(server.url, {
      tasks: "sep2322",
      clientInfo: false,
      form: () => ({ input: "Hello World!" }),
    });
    expect(client.capabilities).toEqual({ elicitation: { form: {} } });
    expect(await client.callTool("echo", {}, { taskTtlMs: 60_000 })).toEqual(RESULT);
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
    };
    const sent = server.seen.filter(({ method }) => method !== "tools/list");
    expect(sent.map(({ method, params }) => ({ method, params }))).toEqual([
      { method: "tools/call", params: { name: "echo", arguments: {}, task: { ttl: 60_000 }, _meta } },
      { method: "tasks/get", params: { taskId: ID, _meta } },
      { method: "tasks/result", params: { taskId: ID, _meta } },
      {
        method: "tasks/input_response",
        params: {
          inputResponses: { echo_input: { action: "accept", content: { input: "Hello World!" } } },
          _meta: { ..._meta, ...RELATED },
        },
      },
      { method: "tasks/get", params: { taskId: ID, _meta } },
      { method: "tasks/result", params: { taskId: ID, _meta } },
    ]);
    for (const request of sent.slice(1) as Seen[]) {
      expect(request.headers).toMatchObject({ "mcp-method": request.method, "mcp-name": ID });
    }
  });

  test("a question that is there again is not asked again", async () => {
    let asked = 0;
    const transport = memory(
      script({
        "tools/call": [HANDLE],
        "tasks/get": [needsInput, needsInput, needsInput, isDone],
        "tasks/result": [ASKS, ASKS, ASKS, RESULT],
        "tasks/input_response": [{ _meta: RELATED }],
      }),
    );
    const client = await connect(transport, { tasks: "sep2322", form: () => ({ input: String(++asked) }) });
    await client.callTool("echo");
    expect(asked).toBe(1);
    expect(methods(transport).filter((method) => method === "tasks/input_response")).toHaveLength(1);
    expect(transport.requests[0]?.params?.task).toEqual({});
    expect(methods(transport)).not.toContain("subscriptions/listen");
  });

  test("a task that failed is the error of tasks/result; one that was cancelled has none", async () => {
    const run = async (status: string, result: unknown) => {
      const answers = { "tools/call": [HANDLE], "tasks/get": [state(status, "Ended.")], "tasks/result": [result] };
      return (await connect(memory(script(answers)), { tasks: "sep2322" })).callTool("echo");
    };
    await expect(run("failed", { error: { code: -32603, message: "no", data: 1 } })).rejects.toMatchObject({
      name: "RpcError",
      code: -32603,
      message: "no",
      data: 1,
    });
    await expect(run("cancelled", NOT_FOUND)).rejects.toMatchObject({ code: "cancelled" });
    await expect(run("completed", { error: { code: -32602, message: "gone" } })).rejects.toMatchObject({
      code: -32602,
    });
  });

  test("rounds come first; each of them asks for the task", async () => {
    const transport = memory(
      script({
        "tools/call": [inputRequired(ASKS.inputRequests, "s"), HANDLE],
        "tasks/get": [isDone],
        "tasks/result": [RESULT],
      }),
    );
    const client = await connect(transport, { tasks: "sep2322", form: () => ({ input: "Hello World!" }) });
    expect(await client.callTool("echo")).toEqual(RESULT);
    const calls = transport.requests.filter(({ method }) => method === "tools/call");
    expect(calls.map(({ params }) => params?.task)).toEqual([{}, {}]);
  });

  test("by hand, and picked up by its data or its id", async () => {
    const transport = memory(
      script({
        "tools/call": [HANDLE],
        "tasks/get": [needsInput, isDone],
        "tasks/result": [ASKS, RESULT],
        "tasks/input_response": [{ _meta: RELATED }],
        "tasks/cancel": [{}],
      }),
    );
    const client = await connect(transport, { tasks: "sep2322" });
    const step = await client.start("tools/call", { name: "echo" });
    const data = step.done ? step.task?.toJSON() : undefined;
    expect(data).toMatchObject({ taskId: ID, wire: "sep2322" });
    // The data says by which methods the task is followed.
    const again = (await connect(transport)).task(JSON.stringify(data));
    await again.answer({ echo_input: { input: "Hello World!" } });
    expect(await again.result()).toEqual(RESULT);
    await client.task(ID).cancel();
    expect(transport.requests.at(-1)).toMatchObject({ method: "tasks/cancel", params: { taskId: ID } });
  });

  test.each([
    { resultType: "task", ...state("working", "flat") },
    { task: { ...state("working", ""), ttl: "1" } },
    { task: "id" },
  ])("T9: a handle that is none: %j", async (answer) => {
    const client = await connect(memory(script({ "tools/call": [answer] })), { tasks: "sep2322" });
    await expect(client.callTool("echo")).rejects.toMatchObject({ code: "message_invalid" });
  });

  test("a result that only has a field called task is one where no task was asked for", async () => {
    const client = await connect(memory(() => ({ content: [], task: "id" })));
    expect(await client.callTool("echo")).toEqual({ resultType: "complete", content: [], task: "id" });
  });
});
