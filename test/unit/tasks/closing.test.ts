import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { hasSqlite, rig } from "./harness.ts";

test.skipIf(!hasSqlite)("a server that closes answers a look at a task before its engine may be closed", async () => {
  await using on = await rig((server) => void server.tool("work", { task: "required" }, () => "done"));
  const { taskId } = await on.call("work");
  await on.until(taskId, "completed");
  const { read } = on.engine.store;
  let answer = (): void => undefined;
  on.engine.store.read = async (id) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return read(id);
  };
  const looking = on.get(taskId);
  const closed = on.server.close(5_000).then(() => "closed");
  expect(await Promise.race([closed, looking, sleep(100, "neither")])).toBe("neither");
  answer();
  expect((await looking).status).toBe("completed");
  expect(await closed).toBe("closed");
});
