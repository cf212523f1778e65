import { expectTypeOf, test } from "vitest";
import { type Client, connect, type FormAnswer, type FormAsk, type TaskHandle } from "../../src/client.ts";
import type { Server } from "../../src/index.ts";
import type { CallToolResult, GetPromptResult } from "../../src/protocol/index.ts";
import { createPair } from "../../src/testing.ts";

declare const client: Client;

test("only the call of a tool can go on as a task", async () => {
  const call = await client.start("tools/call", { name: "work" });
  if (call.done) {
    expectTypeOf(call.task).toEqualTypeOf<TaskHandle | undefined>();
    if (call.task === undefined) expectTypeOf(call.result).toEqualTypeOf<CallToolResult>();
  }
  const prompt = await client.start("prompts/get", { name: "work" });
  if (prompt.done) expectTypeOf(prompt.result).toEqualTypeOf<GetPromptResult>();
});

test("rule 14: handlers answer in a word, in async functions too", () => {
  const url = "https://shop.example/mcp";
  void connect(url, { url: async () => "accept" });
  void connect(url, { url: () => "decline" });
  void connect(url, { url: async () => ({ action: "accept" }) });
  void connect(url, { form: async () => "decline" });
  void connect(url, { form: () => "cancel", url: async (ask) => (ask.host === "pay.example" ? "accept" : "decline") });
  void connect(url, { form: async ({ message }) => (message === "" ? "decline" : { size: "M", tags: ["a", "b"] }) });
  void connect(url, { form: async (ask) => ({ action: "accept", content: { ...ask.defaults, tags: ["a"] } }) });
  void connect(url, { form: () => ({ tags: ["a"] }), legTimeoutMs: 5 });
  void createPair({} as Server, { url: async () => "accept", form: async () => "decline" });
  const form = (ask: FormAsk): FormAnswer | Promise<FormAnswer> => ask.defaults;
  void connect(url, { form });
  void connect(url, { form: () => new Promise((resolve) => resolve({ size: "M" })) });
  void connect(url, { form: () => new Promise((resolve) => resolve("decline")) });
  void connect(url, { url: () => new Promise(() => {}) });
  // @ts-expect-error no such answer
  void connect(url, { url: () => "acept" });
  // @ts-expect-error no such answer
  void connect(url, { url: async () => "acept" });
  // @ts-expect-error a number is no form
  void connect(url, { form: async () => 5 });
});

test("rule 11: options that do not exist do not compile", () => {
  // @ts-expect-error misspelt
  void connect("https://shop.example/mcp", { url: async () => "accept", legTimeout: 5 });
  // @ts-expect-error misspelt
  void client.callTool("t", {}, { timeout: 5 });
  // @ts-expect-error misspelt
  void client.start("tools/call", { name: "t" }, { answer: ["form"] });
  // @ts-expect-error misspelt
  void createPair({} as Server, { principle: { type: "anonymous" } });
});
