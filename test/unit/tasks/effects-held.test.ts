// A worker that sleeps on its way to an effect, while its task is cancelled.
import { expect, test, vi } from "vitest";
import type { Ledger } from "../../../src/index.ts";
import { createMemoryLedger } from "../../../src/ledger/memory.ts";
import { hasSqlite, laterBy, rig } from "./harness.ts";

const LEASE_MS = 5_000;

/** Where it sleeps, and all that the ledger is asked. */
const sleeps = {
  "before its claim": [],
  "while it waits for one that runs elsewhere": ["claim: running"],
  "while its claim is answered": ["claim: claimed", "release"],
  "while it takes over what is in doubt": ["claim: in_doubt", "claim: claimed", "doubt"],
} as const;

test.runIf(hasSqlite).each(Object.keys(sleeps) as (keyof typeof sleeps)[])(
  "attack 15: a worker that lost its task %s begins no effect and leaves the ledger as it was",
  async (when) => {
    const asleep = { ms: 0 };
    const done: string[] = [];
    const asked: string[] = [];
    const memory = createMemoryLedger();
    const sleep = async (): Promise<void> => {
      if (asleep.ms > 0) return;
      asleep.ms = LEASE_MS + 1_000;
      await on.cancel(taskId);
      expect((await on.get(taskId)).status).toBe("cancelled");
    };
    const ledger: Ledger = {
      ...memory,
      async claim(claim) {
        if (when === "while it takes over what is in doubt" && asked.length === 0) {
          await memory.claim({ ...claim, owner: "other" });
          await memory.doubt({ ...claim, owner: "other", epoch: 1 });
        }
        const elsewhere = when === "while it waits for one that runs elsewhere";
        const result = elsewhere ? ({ status: "running" } as const) : await memory.claim(claim);
        asked.push(`claim: ${result.status}`);
        if (elsewhere || result.status === "claimed") await sleep();
        return result;
      },
      async release(hold) {
        asked.push("release");
        return memory.release(hold);
      },
      async doubt(hold) {
        asked.push("doubt");
        return memory.doubt(hold);
      },
    };
    await using on = await rig(
      (server) =>
        server.tool("pay", { task: "required" }, async (_args, ctx) => {
          await started;
          if (when === "before its claim") await sleep();
          return ctx.once("pay", { recover: () => void done.push("recover") }, () => void done.push("effect"));
        }),
      { server: { singleInstance: true, ledger, clock: laterBy(asleep) }, worker: { leaseMs: LEASE_MS, sweepMs: 20 } },
    );
    let start: () => void = () => {};
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const { taskId } = await on.call("pay");
    start();
    await vi.waitFor(() => expect([asleep.ms, asked]).toEqual([LEASE_MS + 1_000, sleeps[when]]));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect([done, asked]).toEqual([[], sleeps[when]]);
    expect((await on.get(taskId)).status).toBe("cancelled");
  },
);
