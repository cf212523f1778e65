import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { expect, test, vi } from "vitest";
import { createBurst } from "../../../src/server/node/burst.ts";

const scope = new AsyncResource("test");
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("writes of one turn happen at its end, in their order, each in the async context of its request", async () => {
  const burst = createBurst();
  const context = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  for (const name of ["a", "b", "c"]) {
    context.run(name, () => burst(new AsyncResource("test"), () => seen.push([name, context.getStore()])));
    await Promise.resolve();
  }
  expect(seen).toEqual([]);
  await turn();
  expect(seen).toEqual([
    ["a", "a"],
    ["b", "b"],
    ["c", "c"],
  ]);
  burst(scope, () => seen.push("next turn"));
  await turn();
  expect(seen.at(-1)).toBe("next turn");
});

test("a write waits no longer than the handler that keeps its turn busy", async () => {
  const burst = createBurst();
  const seen: string[] = [];
  burst(scope, () => seen.push("first"));
  const until = performance.now() + 3;
  while (performance.now() < until);
  burst(scope, () => seen.push("second"));
  expect(seen).toEqual(["first", "second"]);
  burst(scope, () => seen.push("third"));
  await turn();
  expect(seen).toEqual(["first", "second", "third"]);
});

test("a write that fails is reported and keeps no other from happening", async () => {
  const reported: unknown[] = [];
  const spy = vi.spyOn(globalThis, "queueMicrotask").mockImplementation((task) => {
    try {
      task();
    } catch (error) {
      reported.push(error);
    }
  });
  try {
    const burst = createBurst();
    const seen: string[] = [];
    const failure = new Error("a listener on the response failed");
    burst(scope, () => {
      throw failure;
    });
    burst(scope, () => seen.push("second"));
    await turn();
    expect(seen).toEqual(["second"]);
    expect(reported).toEqual([failure]);
  } finally {
    spy.mockRestore();
  }
});
