import { expect, test } from "vitest";
import { z } from "zod";
import { Conflict, type Server } from "../../../src/index.ts";
import { createMemoryLedger } from "../../../src/ledger/index.ts";
import { hasSqlite, rig } from "./harness.ts";

const N = z.object({ n: z.number() });
const answer = (n: number): object => ({ action: "accept", content: { n } });

test.skipIf(!hasSqlite).each([
  [10, "asked for 10, charged 10"],
  [20, "asked for 20, but 10 was charged"],
])("attack 5, S20: a task that a newer version starts over, with %d where 10 was charged: %s", async (n, said) => {
  const charged: number[] = [];
  const register = (version: number) => (server: Server) =>
    void server.tool("pay", { task: "required", version, whenOlder: "restart" }, async (_args, ctx) => {
      const amount = await ctx.elicit("amount", { message: "How much?", schema: N });
      let paid: number;
      try {
        paid = await ctx.once("charge", () => {
          charged.push(amount.n);
          return amount.n;
        });
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        return `asked for ${amount.n}, but ${error.done[0]?.value} was charged`;
      }
      await ctx.elicit("note", { message: "Note?", schema: N });
      return `asked for ${amount.n}, charged ${paid}`;
    });
  // What processes share, as they would Redis or Postgres.
  const options = { server: { singleInstance: true, ledger: createMemoryLedger() } };
  await using older = await rig(register(1), options);
  const { taskId } = await older.call("pay");
  await older.until(taskId, "input_required");
  await older.update(taskId, { amount: answer(10) });
  await expect.poll(async () => Object.keys((await older.get(taskId)).inputRequests ?? {})).toEqual(["note"]);
  await older.worker?.close(0);

  await using newer = await rig(register(2), { ...options, path: older.path });
  await newer.update(taskId, { note: answer(0) });
  await expect.poll(async () => Object.keys((await newer.get(taskId)).inputRequests ?? {})).toEqual(["amount#2"]);
  await newer.update(taskId, { "amount#2": answer(n) });
  const last = async (): Promise<unknown> => {
    const task = await newer.get(taskId);
    const [asked] = Object.keys(task.inputRequests ?? {});
    if (asked?.startsWith("note")) await newer.update(taskId, { [asked]: answer(0) });
    return task.status;
  };
  await expect.poll(last, { timeout: 5_000 }).toBe("completed");
  expect((await newer.get(taskId)).result.content[0].text).toBe(said);
  expect(charged).toEqual([10]);
});
