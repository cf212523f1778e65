// How much a task writes and keeps.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import type { TraceEvent } from "../../../src/index.ts";
import { createSqliteEngine } from "../../../src/tasks/sqlite.ts";
import type { SealedWrite, TaskEngine, TaskHead } from "../../../src/tasks.ts";
import { hasSqlite, laterBy, rig } from "./harness.ts";

const KIB = 1_024;
const HOUR = 3_600_000;

describe.runIf(hasSqlite)("what a task writes", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "volley-bytes-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** An engine that counts all that is written of tasks, heads too. */
  function counting(): { readonly engine: TaskEngine; readonly count: { bytes: number } } {
    const inner = createSqliteEngine({ path: join(folder, "tasks.db") });
    const count = { bytes: 0 };
    const add = (head: TaskHead, sealed: SealedWrite | undefined): void => {
      count.bytes += JSON.stringify(head).length;
      if (sealed !== undefined) count.bytes += ("more" in sealed ? sealed.more : sealed.whole).length;
    };
    const store = {
      ...inner.store,
      create: (...[{ sealed, appended, ...head }, most]: Parameters<typeof inner.store.create>) => {
        add(head, { whole: sealed });
        return inner.store.create({ ...head, sealed, appended }, most);
      },
      update: (...args: Parameters<typeof inner.store.update>) => {
        add(args[2], args[3]);
        return inner.store.update(...args);
      },
    };
    return { engine: { ...inner, store }, count };
  }

  test("200 steps of 1 KiB write less than three times as much in all", async () => {
    const { engine, count } = counting();
    await using on = await rig(
      (server) =>
        server.tool("job", { task: "required" }, async (_args, ctx) => {
          for (let at = 0; at < 200; at++) await ctx.step(`step:${at}`, () => "x".repeat(KIB));
          return "done";
        }),
      { engine },
    );
    const { taskId } = await on.call("job");
    await on.until(taskId, "completed");
    expect(count.bytes).toBeGreaterThan(200 * KIB);
    expect(count.bytes).toBeLessThan(3 * 200 * KIB);
  });

  test("a lease that is renewed writes no journal, however long that is", async () => {
    const { engine, count } = counting();
    let recorded = 0;
    await using on = await rig(
      (server) =>
        server.tool("job", { task: "required" }, async (_args, ctx) => {
          await ctx.step("large", () => "x".repeat(1_000 * KIB));
          recorded = count.bytes;
          await ctx.step("long", () => new Promise((resolve) => setTimeout(resolve, 1_000)));
          return "done";
        }),
      { engine, worker: { leaseMs: 300 } },
    );
    const { taskId } = await on.call("job");
    await on.until(taskId, "completed");
    expect(count.bytes - recorded).toBeLessThan(20 * KIB);
  });

  test("what a task keeps has a bound, over all its runs: it fails for good, and the trace says why", async () => {
    const events: TraceEvent[] = [];
    const ran: number[] = [];
    const clock = { ms: 0 };
    await using on = await rig(
      (server) =>
        server.tool("job", { task: "required" }, async (_args, ctx) => {
          for (let at = 0; at < 12; at++) {
            await ctx.step(`step:${at}`, () => {
              ran.push(at);
              return "x".repeat(2_400 * KIB);
            });
            // A run of its own for each step: none of them records much.
            await ctx.sleep(`pause:${at}`, HOUR);
          }
          return "done";
        }),
      {
        server: { trace: (event) => void events.push(event), clock: laterBy(clock) },
        tasks: { ttlMs: 24 * HOUR },
        worker: { sweepMs: 20 },
      },
    );
    const { taskId } = await on.call("job");
    for (let runs = 1; runs <= 3; runs++) {
      await vi.waitFor(
        async () => {
          const wakeAt = (await on.engine.store.read(taskId))?.wakeAt ?? 0;
          expect([ran.length, wakeAt > Date.now() + clock.ms]).toEqual([runs, true]);
        },
        { timeout: 15_000, interval: 20 },
      );
      clock.ms += HOUR;
    }
    const ended = await on.until(taskId, "completed");
    expect(ended.result.isError).toBe(true);
    expect(ran).toEqual([0, 1, 2, 3]);
    const faults = events.filter(({ type }) => type === "fault");
    expect(faults).toMatchObject([{ error: { code: "state_too_large" } }]);
    expect(String((faults[0] as { error: Error }).error.message)).toMatch(/Return references to large data/);
    expect((await on.engine.store.read(taskId))?.sealed.length).toBeLessThan(5 * KIB);
  });

  test("a question that a task cannot keep fails it, and an answer that it cannot keep is refused", async () => {
    const events: TraceEvent[] = [];
    const schema = z.object({ name: z.string() });
    await using on = await rig(
      (server) =>
        server.tool("ask", { task: "required", input: z.object({ size: z.number() }) }, async ({ size }, ctx) => {
          const { name } = await ctx.elicit("name", { message: "?".repeat(size), schema });
          return `Hello ${name}`;
        }),
      { server: { trace: (event) => void events.push(event) } },
    );
    const large = await on.call("ask", { size: 8_200 * KIB });
    const failed = await on.until(large.taskId, "failed");
    expect(failed.error).toEqual({ code: -32603, message: "Internal error" });
    expect(events.filter(({ type }) => type === "fault")).toMatchObject([{ error: { code: "state_too_large" } }]);

    const { taskId } = await on.call("ask", { size: 1 });
    await on.until(taskId, "input_required");
    const answer = (name: string) => ({ name: { action: "accept", content: { name } } });
    const refused = await on.ask("tasks/update", { taskId, inputResponses: answer("x".repeat(8_200 * KIB)) });
    expect(refused.error).toMatchObject({ code: -32602, message: expect.stringMatching(/cannot keep that much/) });
    await on.update(taskId, answer("Ann"));
    expect((await on.until(taskId, "completed")).result.content[0].text).toBe("Hello Ann");
  });
});
