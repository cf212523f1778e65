// SEP-2322's persistent tools, message by message, over HTTP.
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  SEP_ACKNOWLEDGED,
  SEP_ANSWER,
  SEP_CALL,
  SEP_COMPLETED,
  SEP_CREATED,
  SEP_ECHO_INPUT,
  SEP_FINAL,
  SEP_GET,
  SEP_GET_AGAIN,
  SEP_INPUT_REQUIRED,
  SEP_NOT_REQUESTED,
  SEP_QUESTION,
  SEP_RESULT,
  SEP_RESULT_AGAIN,
  SEP_TASK_ID,
} from "../fixtures/sep-2322-tasks.ts";
import { hasSqlite, type Rig, rig } from "../unit/tasks/harness.ts";
import { type Entry, openNode } from "./http-entry.ts";

const Input = z.object({ input: z.string() });
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};
const RELATED = "io.modelcontextprotocol/related-task";

/** A client of the SEP: literal messages, with the `_meta` that this revision asks for. */
class SepClient {
  readonly entry: Entry;

  constructor(entry: Entry) {
    this.entry = entry;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  async send({ params, ...literal }: { readonly params: any }): Promise<any> {
    const sent = { ...literal, params: { ...params, _meta: { ...META, ...params._meta } } };
    const name = params.taskId ?? params._meta?.[RELATED].taskId ?? params.name;
    const { json } = await this.entry.send({ body: sent, headers: { "mcp-name": name } });
    return this.#comparable(json);
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  #comparable(back: any): unknown {
    for (const part of [back.result, back.result?.task]) {
      if (part === undefined) continue;
      delete part.statusMessage;
      delete part.createdAt;
      delete part.lastUpdatedAt;
      if (part._meta === undefined) continue;
      delete part._meta["io.modelcontextprotocol/serverInfo"];
      if (Object.keys(part._meta).length === 0) delete part._meta;
    }
    return back;
  }

  // biome-ignore lint/suspicious/noExplicitAny: a literal message of any method
  async until(literal: { readonly params: any }, status: string): Promise<unknown> {
    for (let look = 0; look < 200; look++) {
      const answer = await this.send(literal);
      if (answer.result.status === status) return answer;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`never ${status}`);
  }
}

function echo(sep2322 = true): Promise<Rig> {
  const tasks = { sep2322, pollIntervalMs: 100 };
  const register = (server: Rig["server"]): void => {
    server.tool("echo", { task: "required" }, async (_args, ctx) => {
      const message = "Please provide the input string to echo back";
      const { input } = await ctx.elicit("echo_input", { message, schema: Input });
      return { content: [{ type: "text", text: `Echo: ${input}` }], isError: false };
    });
    server.tool("ask_then_task", {}, async (_args, ctx) => {
      const { input } = await ctx.elicit("first", { message: "First?", schema: Input });
      await ctx.toTask();
      return input;
    });
    server.tool("plain", {}, () => "at once");
  };
  // Each test makes at most one task: it has the id of the example.
  return rig(register, { tasks, idOf: () => SEP_TASK_ID, server: { audience: "https://echo.example/mcp" } });
}

describe.skipIf(!hasSqlite)("SEP-2322, persistent tools", () => {
  test("T8: the example flow, message by message", async () => {
    await using on = await echo();
    const client = new SepClient(await openNode(on.server));
    expect(await client.send(SEP_CALL)).toEqual(SEP_CREATED);
    expect(await client.until(SEP_GET, "input_required")).toEqual(SEP_INPUT_REQUIRED);
    expect(await client.send(SEP_RESULT)).toEqual(SEP_QUESTION);
    expect(await client.send(SEP_ANSWER)).toEqual(SEP_ACKNOWLEDGED);
    expect(await client.until(SEP_GET_AGAIN, "completed")).toEqual(SEP_COMPLETED);
    expect(await client.send(SEP_RESULT_AGAIN)).toEqual(SEP_FINAL);
    await client.entry.close();
  });

  test("T8: what was not asked for is acknowledged, and the question comes again", async () => {
    await using on = await echo();
    const client = new SepClient(await openNode(on.server));
    await client.send(SEP_CALL);
    await client.send(SEP_RESULT);
    expect(await client.send(SEP_NOT_REQUESTED)).toEqual(SEP_ACKNOWLEDGED);
    const again = await client.send(SEP_RESULT);
    expect(again.result.resultType).toBe("input_required");
    const [[key, question]] = Object.entries(again.result.inputRequests) as [[string, typeof SEP_ECHO_INPUT]];
    expect(key).toBe("echo_input#2");
    expect(question.params.requestedSchema).toEqual(SEP_ECHO_INPUT.params.requestedSchema);
    await client.entry.close();
  });

  test("T8: tasks/result holds while the task works, until it asks or ends", async () => {
    await using on = await echo();
    const client = new SepClient(await openNode(on.server));
    await client.send(SEP_CALL);
    expect(await client.send(SEP_RESULT)).toEqual(SEP_QUESTION);
    await client.send(SEP_ANSWER);
    expect(await client.send(SEP_RESULT_AGAIN)).toEqual(SEP_FINAL);
    await client.entry.close();
  });

  test("T6, T8: the task's wish stands in both rounds; the task begins after the answers", async () => {
    await using on = await echo();
    const call = (more: object) =>
      on.ask("tools/call", { name: "ask_then_task", task: { ttl: 5000 }, ...more }, { can: { elicitation: {} } });
    const { result: asked } = await call({});
    expect(asked.resultType).toBe("input_required");
    const inputResponses = { first: { action: "accept", content: { input: "yes" } } };
    const { result } = await call({ requestState: asked.requestState, inputResponses });
    expect(result.task).toMatchObject({ status: "working", ttl: 5000 });
  });

  test("T8: a client may cancel instead; the wish makes no task of a plain tool, and is checked", async () => {
    await using on = await echo();
    const can = { elicitation: {} };
    const { result } = await on.ask("tools/call", { name: "echo", task: {} }, { can });
    const { taskId } = result.task;
    expect((await on.ask("tasks/cancel", { taskId }, { can })).result.resultType).toBe("complete");
    const gone = await on.ask("tasks/result", { taskId }, { can });
    expect(gone.error).toEqual({ code: -32602, message: "The task was cancelled and has no result." });
    const plain = await on.ask("tools/call", { name: "plain", task: { ttl: 1 } }, { can });
    expect(plain.result.content).toEqual([{ type: "text", text: "at once" }]);
    for (const task of [null, 5, { ttl: "long" }, { ttl: -1 }, { ttl: 1.5 }]) {
      expect((await on.ask("tools/call", { name: "echo", task }, { can })).error.code).toBe(-32602);
    }
  });

  test("T8: tasks of the extension keep its shapes, and are not for tasks/result", async () => {
    await using on = await echo();
    const { taskId } = await on.call("echo");
    expect(await on.get(taskId)).toMatchObject({ taskId, ttlMs: 3_600_000, pollIntervalMs: 100 });
    expect((await on.ask("tasks/result", { taskId })).error).toEqual({ code: -32602, message: "Task not found" });
    expect((await on.ask("tasks/get", { taskId }, { can: {} })).error.code).toBe(-32021);
    expect((await on.ask("tasks/get", { taskId: "unknown" }, { can: {} })).error.code).toBe(-32021);
  });

  test("T8: without the option none of it is there", async () => {
    await using on = await echo(false);
    for (const method of ["tasks/result", "tasks/input_response", "tasks/list"]) {
      expect((await on.ask(method, { taskId: "x" })).error.code).toBe(-32601);
    }
    const can = { elicitation: {} };
    expect((await on.ask("tools/call", { name: "echo", task: { ttl: 1 } }, { can })).error.code).toBe(-32021);
  });
});
