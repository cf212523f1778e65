import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { systemClock } from "../../../src/flow/index.ts";
import { RpcError, type Server, ToolError, type TraceEvent } from "../../../src/index.ts";
import { ALL, hasSqlite, rig, TASKS } from "./harness.ts";

const Name = z.object({ name: z.string() });
const ann = { action: "accept", content: { name: "Ann" } };

describe.skipIf(!hasSqlite)("tasks", () => {
  test("T1, T6: asks by rounds first, then goes on as a task from the same line", async () => {
    let loads = 0;
    await using on = await rig((server) =>
      server.tool("deploy", {}, async (_args, ctx) => {
        const base = await ctx.step("load", () => ++loads);
        const { name } = await ctx.elicit("name", { message: "Who?", schema: Name });
        await ctx.toTask({ ttlMs: 60_000, pollIntervalMs: 50, message: "Begun." });
        const twice = await ctx.step("twice", () => base * 2);
        return `${name} ${twice}`;
      }),
    );
    const asked = await on.call("deploy");
    expect(asked.resultType).toBe("input_required");
    const handle = await on.call("deploy", {}, { requestState: asked.requestState, inputResponses: { name: ann } });
    expect(handle).toEqual({
      resultType: "task",
      taskId: expect.stringMatching(/^[\w-]{43}$/),
      status: "working",
      statusMessage: "Begun.",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      lastUpdatedAt: expect.any(String),
      ttlMs: 60_000,
      pollIntervalMs: 50,
      _meta: expect.any(Object),
    });
    const ended = await on.until(handle.taskId, "completed");
    expect(ended.result.content).toEqual([{ type: "text", text: "Ann 2" }]);
    expect(ended.resultType).toBe("complete");
    expect(loads).toBe(1);
  });

  test("T1: a replay of the last round gets the same handle, with other answers a conflict", async () => {
    await using on = await rig((server) =>
      server.tool("deploy", {}, async (_args, ctx) => {
        const { name } = await ctx.elicit("name", { message: "Who?", schema: Name });
        await ctx.toTask();
        return name;
      }),
    );
    const { requestState } = await on.call("deploy");
    const send = (name: string): Promise<{ taskId?: string; isError?: boolean; content?: unknown }> =>
      on.call("deploy", {}, { requestState, inputResponses: { name: { action: "accept", content: { name } } } });
    const handles = await Promise.all([send("Ann"), send("Ann"), send("Ann")]);
    expect(new Set(handles.map(({ taskId }) => taskId)).size).toBe(1);
    expect(await send("Bob")).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/decided/) }] });
    expect(await send("Ann")).toMatchObject({ taskId: handles[0]?.taskId });
  });

  test("T1: without a question before, one state-only round comes first", async () => {
    await using on = await rig((server) =>
      server.tool("job", {}, async (_args, ctx) => {
        await ctx.toTask();
        return "done";
      }),
    );
    const ticket = await on.call("job");
    expect(ticket).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
    expect(ticket.inputRequests).toBeUndefined();
    const { taskId } = await on.call("job", {}, { requestState: ticket.requestState });
    await on.until(taskId, "completed");
  });

  test("T9: a client without tasks gets -32021, or with a fallback the result", async () => {
    await using on = await rig((server) => {
      server.tool("strict", { task: "required" }, () => "done");
      server.tool("later", {}, async (_args, ctx) => {
        await ctx.toTask();
        return "done";
      });
      server.tool("kind", {}, async (_args, ctx) => {
        await ctx.toTask({ fallback: "inline" });
        return "done";
      });
    });
    const without = (method: string, params: object) => on.ask(method, params, { can: {} });
    const error = {
      code: -32021,
      message: expect.any(String),
      data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
    };
    expect((await without("tools/call", { name: "strict" })).error).toEqual(error);
    expect((await without("tools/call", { name: "later" })).error).toEqual(error);
    expect((await without("tools/call", { name: "kind" })).result.content[0].text).toBe("done");
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      expect((await without(method, { taskId: "nobody", inputResponses: {} })).error).toEqual(error);
    }
    expect((await without("subscriptions/listen", { notifications: { taskIds: [] } })).error).toEqual(error);
  });

  test("a tool that is a task where it may answers other clients in the request", async () => {
    await using on = await rig((server) => server.tool("job", { task: "optional" }, () => "done"));
    const { result } = await on.ask("tools/call", { name: "job" }, { can: {} });
    expect(result).toMatchObject({ resultType: "complete", content: [{ text: "done" }] });
    const { taskId } = await on.call("job");
    expect((await on.until(taskId, "completed")).result).toMatchObject({ content: [{ text: "done" }] });
  });

  test("T2: the server says that it has tasks; a server without an engine does not", async () => {
    await using on = await rig((server) => server.tool("job", { task: "required" }, () => "done"));
    const { result } = await on.ask("server/discover");
    expect(result.capabilities.extensions).toEqual(TASKS.extensions);
  });

  test("T2, T9: completed with a result, with isError, failed by a JSON-RPC error", async () => {
    await using on = await rig((server) => {
      server.tool("fine", { task: "required" }, () => "done");
      server.tool("throws", { task: "required" }, () => {
        throw new ToolError("no disk");
      });
      server.tool("breaks", { task: "required" }, () => {
        throw new RpcError(-32603, "API rate limit exceeded", { wait: 5 });
      });
    });
    const end = async (name: string, status: string) => on.until((await on.call(name)).taskId, status);
    expect((await end("fine", "completed")).result).toMatchObject({ content: [{ type: "text", text: "done" }] });
    expect((await end("throws", "completed")).result).toMatchObject({ isError: true, content: [{ text: "no disk" }] });
    const failed = await end("breaks", "failed");
    expect(failed.error).toEqual({ code: -32603, message: "API rate limit exceeded", data: { wait: 5 } });
    expect(failed.statusMessage).toBe("API rate limit exceeded");
    expect(failed.result).toBeUndefined();
  });

  test("T3: partial answers are taken, stale and unknown ones ignored, keys never used again", async () => {
    await using on = await rig((server) =>
      server.tool("two", { task: "required" }, async (_args, ctx) => {
        const [a, b] = await Promise.all([
          ctx.elicit("a", { message: "A?", schema: Name }),
          ctx.elicit("b", { message: "B?", schema: Name }),
        ]);
        return `${a.name} ${b.name}`;
      }),
    );
    const { taskId } = await on.call("two");
    const asked = await on.until(taskId, "input_required");
    expect(Object.keys(asked.inputRequests)).toEqual(["a", "b"]);
    expect(asked.inputRequests.a.params.message).toBe("A?");

    expect(await on.update(taskId, { a: ann, c: 5, ["__proto__"]: ann })).toEqual({
      resultType: "complete",
      _meta: expect.any(Object),
    });
    const partly = await on.get(taskId);
    expect([partly.status, Object.keys(partly.inputRequests)]).toEqual(["input_required", ["b"]]);
    // A second answer to what is answered changes nothing.
    await on.update(taskId, { a: { action: "accept", content: { name: "Eve" } } });

    // Unusable: asked again, under a key of its own.
    await on.update(taskId, { b: { action: "accept", content: { name: 5 } } });
    await vi.waitFor(
      async () => expect(Object.keys((await on.get(taskId)).inputRequests ?? {})).toEqual(["b#2"]),
      5_000,
    );
    expect((await on.get(taskId)).inputRequests["b#2"].params.message).toMatch(/^B\?\n\n./);
    await on.update(taskId, { b: { action: "accept", content: { name: "late" } } });
    await on.update(taskId, { "b#2": { action: "accept", content: { name: "Bob" } } });
    const ended = await on.until(taskId, "completed");
    expect(ended.result.content[0].text).toBe("Ann Bob");
    expect(ended.inputRequests).toBeUndefined();
  });

  test("T3: an answer that is no object is refused, and nothing is taken", async () => {
    await using on = await rig((server) =>
      server.tool("one", { task: "required" }, async (_args, ctx) => {
        return (await ctx.elicit("a", { message: "A?", schema: Name })).name;
      }),
    );
    const { taskId } = await on.call("one");
    await on.until(taskId, "input_required");
    expect((await on.ask("tasks/update", { taskId, inputResponses: { a: 5 } })).error.code).toBe(-32602);
    expect((await on.ask("tasks/update", { taskId })).error.code).toBe(-32602);
    expect((await on.get(taskId)).status).toBe("input_required");
  });

  test("T10: a task goes on working while it waits; what it asked is seen at once", async () => {
    let release: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const order: string[] = [];
    await using on = await rig((server) =>
      server.tool("both", { task: "required" }, async (_args, ctx) => {
        const [{ name }] = await Promise.all([
          ctx.elicit("name", { message: "Who?", schema: Name }),
          ctx.step("work", async () => {
            await gate;
            order.push("worked");
          }),
        ]);
        order.push("answered");
        return name;
      }),
    );
    const { taskId } = await on.call("both");
    await on.until(taskId, "input_required");
    expect(order).toEqual([]);
    // Answered while the step still runs.
    await on.update(taskId, { name: ann });
    expect((await on.get(taskId)).status).toBe("working");
    release?.();
    expect((await on.until(taskId, "completed")).result.content[0].text).toBe("Ann");
    expect(order).toEqual(["worked", "answered"]);
  });

  test("T4, case 44: another principal's task, an expired one and an unknown one look the same", async () => {
    let now = Date.UTC(2026, 6, 28);
    const clock = { ...systemClock, now: () => now };
    await using on = await rig((server) => server.tool("job", { task: "required" }, () => "done"), {
      server: { clock },
      tasks: { ttlMs: 60_000 },
    });
    const alice = { type: "user", issuer: "https://a", subject: "alice" } as const;
    const { result } = await on.ask("tools/call", { name: "job" }, { principal: alice });
    const { taskId } = result;
    const seen = async (
      id: string,
      principal?: typeof alice | { type: "user"; issuer: string; subject: string; tenant: string },
    ) => on.ask("tasks/get", { taskId: id }, principal ? { principal } : {});
    expect((await seen(taskId, alice)).result.taskId).toBe(taskId);
    const unknown = { code: -32602, message: "Task not found" };
    expect((await seen("nobody", alice)).error).toEqual(unknown);
    expect((await seen(taskId)).error).toEqual(unknown);
    expect((await seen(taskId, { ...alice, subject: "bob" } as never)).error).toEqual(unknown);
    expect((await seen(taskId, { ...alice, tenant: "x" })).error).toEqual(unknown);
    for (const method of ["tasks/update", "tasks/cancel"]) {
      expect((await on.ask(method, { taskId, inputResponses: {} })).error).toEqual(unknown);
    }
    now += 60_000;
    expect((await seen(taskId, alice)).error).toEqual(unknown);
  });

  test("T4: what has ended stays as it is", async () => {
    await using on = await rig((server) => server.tool("job", { task: "required" }, () => "done"));
    const { taskId } = await on.call("job");
    const ended = await on.until(taskId, "completed");
    await on.cancel(taskId);
    await on.update(taskId, { a: ann });
    expect(await on.get(taskId)).toEqual(ended);
  });

  test("cancelling reaches the handler's signal, and a task that waits at once", async () => {
    const reasons: unknown[] = [];
    await using on = await rig((server) => {
      server.tool("busy", { task: "required" }, async (_args, ctx) => {
        await delay(20_000, undefined, { signal: ctx.signal }).catch((error) => {
          reasons.push((error as Error).cause);
          throw error;
        });
      });
      server.tool("asks", { task: "required" }, async (_args, ctx) => ctx.confirm("sure", "Sure?").then(String));
    });
    const busy = await on.call("busy");
    await vi.waitFor(async () => expect((await on.engine.store.read(busy.taskId))?.epoch).toBe(1));
    expect(await on.cancel(busy.taskId)).toEqual({ resultType: "complete", _meta: expect.any(Object) });
    const cancelled = await on.until(busy.taskId, "cancelled");
    expect([cancelled.result, cancelled.error, cancelled.inputRequests]).toEqual([undefined, undefined, undefined]);
    expect(reasons).toEqual([expect.objectContaining({ message: "The task was cancelled." })]);

    const asks = await on.call("asks");
    await on.until(asks.taskId, "input_required");
    await on.cancel(asks.taskId);
    await on.until(asks.taskId, "cancelled");
  });

  test("T9: a handle comes from tools/call only: a prompt or a resource that wants one is the author's error", async () => {
    const faults: unknown[] = [];
    const trace = (event: TraceEvent): void => void (event.type === "fault" && faults.push(event.error));
    await using on = await rig(
      (server) => {
        server.prompt("p", {}, async (_args, ctx) => {
          await ctx.toTask();
          return "p";
        });
        server.resource("r", "file:///r", {}, async (_uri, ctx) => {
          await ctx.toTask();
          return "r";
        });
      },
      { server: { trace } },
    );
    expect((await on.ask("prompts/get", { name: "p" })).error.code).toBe(-32603);
    expect((await on.ask("resources/read", { uri: "file:///r" })).error.code).toBe(-32603);
    expect(faults).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/^prompt "p" cannot become a task/) }),
      expect.objectContaining({ message: expect.stringMatching(/^resource "r" cannot become a task/) }),
    ]);
  });

  test("T9: notifications/cancelled does not cancel a task", async () => {
    await using on = await rig((server) =>
      server.tool("asks", { task: "required" }, async (_args, ctx) => ctx.confirm("sure", "Sure?").then(String)),
    );
    const { taskId } = await on.call("asks");
    await on.until(taskId, "input_required");
    const { coreOf } = await import("../../../src/server/index.ts");
    const { MemoryCall } = await import("../server/memory-call.ts");
    for (const requestId of [1, taskId]) {
      const sent = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } };
      await coreOf(on.server).handle(sent, new MemoryCall());
    }
    expect((await on.get(taskId)).status).toBe("input_required");
  });

  test("T5: progress is the task's status message", async () => {
    let release: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using on = await rig((server) =>
      server.tool("job", { task: "required" }, async (_args, ctx) => {
        ctx.progress(1, 3, "Copied one of three");
        await gate;
        return "done";
      }),
    );
    const { taskId } = await on.call("job");
    await vi.waitFor(async () => expect((await on.get(taskId)).statusMessage).toBe("Copied one of three"), 5_000);
    release?.();
    await on.until(taskId, "completed");
  });

  test("a task sleeps without a worker and goes on at its time", async () => {
    await using on = await rig((server) =>
      server.tool("nap", { task: "required" }, async (_args, ctx) => {
        await ctx.sleep("nap", 1_200);
        return "rested";
      }),
    );
    const { taskId } = await on.call("nap");
    await vi.waitFor(async () => {
      const record = await on.engine.store.read(taskId);
      expect([record?.epoch, record?.leaseUntil, typeof record?.wakeAt]).toEqual([1, null, "number"]);
    });
    expect((await on.until(taskId, "completed")).result.content[0].text).toBe("rested");
    expect((await on.engine.store.read(taskId))?.epoch).toBe(2);
  });

  test("once in a task happens once, and after it a fork of the flow gets a conflict", async () => {
    let charged = 0;
    await using on = await rig(
      (server) =>
        server.tool("pay", {}, async (_args, ctx) => {
          const { name } = await ctx.elicit("name", { message: "Who?", schema: Name });
          if (name === "Ann") await ctx.toTask();
          return `${name} ${await ctx.once("charge", () => ++charged)}`;
        }),
      { server: { singleInstance: true } },
    );
    const { requestState } = await on.call("pay");
    const { taskId } = await on.call("pay", {}, { requestState, inputResponses: { name: ann } });
    expect((await on.until(taskId, "completed")).result.content[0].text).toBe("Ann 1");
    const bob = { action: "accept", content: { name: "Bob" } };
    const fork = await on.call("pay", {}, { requestState, inputResponses: { name: bob } });
    expect(fork).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/already decided/) }] });
    expect(charged).toBe(1);
  });

  test("S6: what the client did not declare is not asked in a task either", async () => {
    await using on = await rig((server) =>
      server.tool("asks", { task: "required" }, async (_args, ctx) => ctx.confirm("sure", "Sure?").then(String)),
    );
    const { result } = await on.ask("tools/call", { name: "asks" }, { can: TASKS });
    const failed = await on.until(result.taskId, "failed");
    expect(failed.error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } });
  });

  test("T7: a worker that closes gives its tasks back at once; what its handler does later does not count", async () => {
    const release: (() => void)[] = [];
    let tries = 0;
    const register = (server: Server): void => {
      server.tool("long", { task: "required" }, async (_args, ctx) => {
        const first = await ctx.step("first", () => ++tries);
        const second = await ctx.step("second", async () => {
          tries += 1;
          const mine = tries;
          if (mine === 2) await new Promise<void>((resolve) => release.push(resolve));
          return mine;
        });
        return `${first} ${second}`;
      });
    };
    await using on = await rig(register, { worker: { leaseMs: 60_000 } });
    await using other = await rig(register, { path: on.path, worker: false });
    const { taskId } = await on.call("long");
    await vi.waitFor(() => expect(tries).toBe(2));
    await on.worker?.close(0);
    await other.startWorker();
    const ended = await other.until(taskId, "completed");
    expect(ended.result.content[0].text).toBe("1 3");
    for (const each of release) each();
    await delay(100);
    expect(await on.get(taskId)).toEqual(ended);
  });

  test("T7: what the store does not take does not count: the task is run again from what it has", async () => {
    const ran: string[] = [];
    await using on = await rig(
      (server) =>
        server.tool("job", { task: "required" }, async (_args, ctx) => {
          await ctx.step("first", () => void ran.push("first"));
          const store = on.engine.store as { update: typeof on.engine.store.update };
          const { update } = store;
          if (ran.length === 1) {
            store.update = () => {
              store.update = update;
              return Promise.reject(new Error("disk full"));
            };
          }
          await ctx.step("second", () => void ran.push("second"));
          return "done";
        }),
      { worker: { leaseMs: 300 } },
    );
    const { taskId } = await on.call("job");
    const ended = await on.until(taskId, "completed");
    expect(ended.result).toMatchObject({ content: [{ text: "done" }] });
    expect(ended.result.isError).toBeUndefined();
    expect(ran).toEqual(["first", "second", "second"]);
  });

  test("a tool that this worker does not have is left to others", async () => {
    await using on = await rig((server) => server.tool("job", { task: "required" }, () => "done"), { worker: false });
    await using other = await rig(() => undefined, { path: on.path });
    const { taskId } = await on.call("job");
    await vi.waitFor(async () => expect((await other.engine.store.read(taskId))?.epoch).toBe(1));
    await vi.waitFor(async () => {
      const record = await on.engine.store.read(taskId);
      expect([record?.leaseUntil, record?.status]).toEqual([null, "working"]);
      expect(record?.wakeAt).toBeGreaterThan(Date.now());
    });
  });

  test("nothing of people or handlers is in the store as it is", async () => {
    const { readFileSync } = await import("node:fs");
    await using on = await rig((server) =>
      server.tool("job", { task: "required", input: z.object({ secret: z.string() }) }, async ({ secret }, ctx) => {
        await ctx.step("keep", () => `step-${secret}`);
        const { name } = await ctx.elicit("name", { message: `ask-${secret}`, schema: Name });
        return `result-${secret}-${name}`;
      }),
    );
    const { taskId } = await on.call("job", { secret: "marmalade" });
    await on.until(taskId, "input_required");
    await on.update(taskId, { name: { action: "accept", content: { name: "marmalade" } } });
    await on.until(taskId, "completed");
    const bytes = ["", "-wal"].map((end) => readFileSync(on.path + end).toString("latin1")).join("");
    expect(bytes).toContain(taskId);
    expect(bytes).not.toContain("marmalade");
  });

  test("a tool that is a task needs a server with tasks", async () => {
    const { create, ask } = await import("../server/harness.ts");
    const server = create({ errors: "show" });
    server.tool("job", { task: "required" }, () => "done");
    const meta = { "io.modelcontextprotocol/clientCapabilities": ALL };
    const { result } = await ask(server, "tools/call", { name: "job" }, meta);
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/createServer\(\{ tasks \}\)/) }],
    });
    expect((await ask(server, "tasks/get", { taskId: "x" }, meta)).error.code).toBe(-32601);
  });
});
