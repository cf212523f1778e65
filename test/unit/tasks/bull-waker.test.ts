import { expect, test } from "vitest";
import { type BullWorkerSettings, createBullWaker } from "../../../src/tasks/bull-waker.ts";

test("T7: a job whose worker died is free again before the lease of its task is over", async () => {
  let settings: BullWorkerSettings | undefined;
  const worker = { waitUntilReady: async () => undefined, close: async () => undefined };
  const waker = createBullWaker({ add: async () => undefined }, (_take, given) => {
    settings = given;
    return { worker, close: async () => undefined };
  });
  await waker.work(async () => undefined, { concurrency: 3, leaseMs: 15_000 });
  expect(settings).toEqual({
    concurrency: 3,
    lockDuration: 7_500,
    stalledInterval: 2_500,
    maxStalledCount: 1_000_000,
    runRetryDelay: 1_000,
  });
});
