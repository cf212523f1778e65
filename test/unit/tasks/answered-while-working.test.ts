import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Server } from "../../../src/index.ts";
import { hasSqlite, rig } from "./harness.ts";

const Value = z.object({ v: z.string() });

describe.skipIf(!hasSqlite)("T10: answers are seen while steps run", () => {
  test("attack 13: a person stops a step that runs", async () => {
    let copied = false;
    await using tasks = await rig((server: Server) => {
      server.tool("stop", { task: "required" }, async (_args, ctx) => {
        const first = await ctx.race({
          stop: () => ctx.elicit("stop", { message: "Stop?", schema: Value }),
          copy: () => ctx.step("copy", () => sleep(5_000).then(() => (copied = true))),
        });
        return first.winner;
      });
    });
    const { taskId } = await tasks.call("stop");
    const asked = await tasks.until(taskId, "input_required");
    const [key] = Object.keys(asked.inputRequests);
    await tasks.update(taskId, { [key as string]: { action: "accept", content: { v: "now" } } });
    const ended = await tasks.until(taskId, "completed");
    expect([ended.result.content[0].text, copied]).toEqual(["stop", false]);
  });

  test("attack 13: what follows an answer begins beside a step that runs, and an unusable answer is asked for again", async () => {
    const order: string[] = [];
    await using tasks = await rig((server: Server) => {
      server.tool("both", { task: "required" }, async (_args, ctx) => {
        const share = async (): Promise<void> => {
          const { v } = await ctx.elicit("who", { message: "Who?", schema: Value });
          await ctx.step("share", () => void order.push(`share ${v}`));
        };
        const copy = ctx.step("copy", () => sleep(2_000).then(() => void order.push("copy")));
        await Promise.all([share(), copy]);
        return "done";
      });
    });
    const { taskId } = await tasks.call("both");
    const asked = await tasks.until(taskId, "input_required");
    const [key] = Object.keys(asked.inputRequests) as [string];
    await tasks.update(taskId, { [key]: { action: "accept", content: { v: 5 } } });
    let again = await tasks.get(taskId);
    while (Object.keys(again.inputRequests ?? {})[0] === key || again.status !== "input_required") {
      await sleep(20);
      again = await tasks.get(taskId);
    }
    const [next] = Object.keys(again.inputRequests) as [string];
    await tasks.update(taskId, { [next]: { action: "accept", content: { v: "Ada" } } });
    expect((await tasks.until(taskId, "completed")).result.content[0].text).toBe("done");
    expect(order).toEqual(["share Ada", "copy"]);
  });
});
