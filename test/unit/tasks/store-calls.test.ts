import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { createSqliteEngine } from "../../../src/tasks/sqlite.ts";
import type { TaskStore } from "../../../src/tasks.ts";
import { hasSqlite, rig } from "./harness.ts";

test.runIf(hasSqlite)("a task with one question is written and read no more often than it has to be", async () => {
  const folder = mkdtempSync(join(tmpdir(), "volley-tasks-"));
  const inner = createSqliteEngine({ path: join(folder, "tasks.db") });
  const calls: string[] = [];
  const count = <K extends "create" | "read" | "update">(name: K): TaskStore[K] => {
    const call = inner.store[name] as (...args: unknown[]) => Promise<unknown>;
    return ((...args: unknown[]) => {
      calls.push(name);
      return call(...args);
    }) as TaskStore[K];
  };
  const store = { ...inner.store, create: count("create"), read: count("read"), update: count("update") };
  const on = await rig(
    (server) => {
      server.tool("greet", { task: "required" }, async (_args, ctx) => {
        const schema = z.object({ name: z.string() });
        return `Hello ${(await ctx.elicit("name", { message: "Who?", schema })).name}`;
      });
    },
    { engine: { ...inner, store } },
  );
  try {
    const { taskId } = await on.call("greet");
    await on.until(taskId, "input_required");
    const asked = calls.filter((call) => call !== "read");
    // Made, taken, let go with its question.
    expect(asked).toEqual(["create", "update", "update"]);
    await on.update(taskId, { name: { action: "accept", content: { name: "Ann" } } });
    expect((await on.until(taskId, "completed")).result.content[0].text).toBe("Hello Ann");
    // Answered, taken, the answer settled before anything rests on it, ended.
    expect(calls.filter((call) => call === "update")).toHaveLength(2 + 4);
  } finally {
    await on[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
});
