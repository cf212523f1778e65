import { expect, test } from "vitest";
import { connect } from "../../../src/client.ts";
import { memory, text } from "./fixtures.ts";

/** Tells of progress every 100 ms, `times` times, and answers 100 ms later. */
function busy(times: number, value: (n: number) => number = (n) => n): ReturnType<typeof memory> {
  return memory(
    ({ method, params }, notify) =>
      new Promise((resolve) => {
        if (method !== "tools/call") return resolve({ error: { code: -32601, message: "no" } });
        let told = 0;
        const { progressToken } = (params?._meta ?? {}) as { progressToken?: number };
        const timer = setInterval(() => {
          if (told++ === times) {
            clearInterval(timer);
            return resolve(text("done"));
          }
          if (progressToken === undefined) return;
          const progress = value(told);
          notify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress } });
        }, 100);
      }),
  );
}

const onProgress = (): void => {};

test("case 52: progress restarts the wait", async () => {
  const client = await connect(busy(6), { legTimeoutMs: 400 });
  expect(await client.callTool("work", {}, { onProgress })).toEqual(text("done"));
});

test("case 52: silence ends it, also after progress", async () => {
  const client = await connect(busy(6), { legTimeoutMs: 60 });
  await expect(client.callTool("work", {}, { onProgress })).rejects.toMatchObject({
    code: "timeout",
    message: expect.stringContaining("timeoutMs"),
  });
  const unasked = await connect(busy(6), { legTimeoutMs: 400 });
  await expect(unasked.callTool("work")).rejects.toMatchObject({ code: "timeout" });
});

test("case 52: what is no progress does not restart it", async () => {
  const client = await connect(
    busy(6, () => 1),
    { legTimeoutMs: 400 },
  );
  await expect(client.callTool("work", {}, { onProgress })).rejects.toMatchObject({ code: "timeout" });
});

test.each([
  ["the client", { maxTotalTimeoutMs: 500 }, {}],
  ["the call", {}, { maxTotalTimeoutMs: 500 }],
])("case 52: up to the ceiling of %s", async (_name, options, callOptions) => {
  const client = await connect(busy(60), { legTimeoutMs: 300, ...options });
  const startedAt = performance.now();
  await expect(client.callTool("work", {}, { onProgress, ...callOptions })).rejects.toMatchObject({
    code: "timeout",
    message: expect.stringContaining("maxTotalTimeoutMs"),
  });
  expect(performance.now() - startedAt).toBeGreaterThan(490);
  expect(performance.now() - startedAt).toBeLessThan(1_500);
});

test("case 52: a ceiling below the limit itself does not shorten it", async () => {
  const client = await connect(busy(3), { legTimeoutMs: 2_000, maxTotalTimeoutMs: 1 });
  expect(await client.callTool("work", {}, { onProgress })).toEqual(text("done"));
});
