import { expectTypeOf, test } from "vitest";
import type { Client, TaskHandle } from "../../src/client.ts";
import type { CallToolResult, GetPromptResult } from "../../src/protocol/index.ts";

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
