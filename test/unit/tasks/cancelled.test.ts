import { expect, test } from "vitest";
import * as z from "zod";
import { hasSqlite, rig } from "./harness.ts";

const Name = z.object({ name: z.string() });

test.runIf(hasSqlite)(
  "a task that is cancelled while its worker writes that it waits does not go on waiting",
  async () => {
    await using on = await rig(
      (server) =>
        server.tool("ask", { task: "required" }, async (_args, ctx) => {
          return (await ctx.elicit("name", { message: "Who?", schema: Name })).name;
        }),
      { worker: false },
    );
    const { taskId } = await on.call("ask");
    const { store } = on.engine;
    const { update } = store;
    store.update = async (id, version, head, sealed) => {
      if (head.status === "input_required" && head.leaseUntil === null) {
        store.update = update;
        await on.cancel(taskId);
      }
      return await update(id, version, head, sealed);
    };
    await on.startWorker();
    expect((await on.until(taskId, "cancelled")).statusMessage).toBe("The task was cancelled.");
  },
);
