import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Principal, Server, TraceEvent } from "../../../src/index.ts";
import { coreOf, type Limits } from "../../../src/server/index.ts";
import { message } from "../../spec/http-entry.ts";
import { MemoryCall } from "../server/memory-call.ts";
import { ALL, hasSqlite, type Rig, rig } from "./harness.ts";

const Name = z.object({ name: z.string() });
const given = (name: string): object => ({ name: { action: "accept", content: { name } } });
const ADA: Principal = { type: "user", issuer: "https://id.example", subject: "ada" };
const BOB: Principal = { type: "user", issuer: "https://id.example", subject: "bob" };

let limited: string[];

function register(server: Server): void {
  server.tool("ask", { task: "required" }, async (_args, ctx) => {
    return (await ctx.elicit("name", { message: "Who?", schema: Name })).name;
  });
  server.tool("hand_off", {}, async (_args, ctx) => {
    const { name } = await ctx.elicit("name", { message: "Who?", schema: Name });
    await ctx.toTask();
    return name;
  });
}

function limitedTo(limits: Limits): Promise<Rig> {
  limited = [];
  const trace = (event: TraceEvent): void => void (event.type === "limited" && limited.push(event.limit));
  return rig(register, { server: { limits, trace } });
}

describe.skipIf(!hasSqlite)("S23: live tasks", () => {
  test("each user has so many: 429 with Retry-After, traced, until one of them ends", async () => {
    await using on = await limitedTo({ liveTasks: 1 });
    const begin = (principal: Principal) => on.ask("tools/call", { name: "ask" }, { principal });
    const { taskId } = (await begin(ADA)).result;
    const call = new MemoryCall();
    call.principal = ADA;
    const body = message("tools/call", { name: "ask" }, { "io.modelcontextprotocol/clientCapabilities": ALL });
    const refused = await coreOf(on.server).handle(body, call);
    expect([refused.status, refused.retryAfter, JSON.parse(refused.body as string).error]).toEqual([
      429,
      30,
      { code: 42900, message: "Too many tasks that have not ended. Try again in 30 s." },
    ]);
    expect(limited).toEqual(["liveTasks"]);
    expect((await begin(BOB)).result.resultType).toBe("task");
    await on.ask("tasks/cancel", { taskId }, { principal: ADA });
    expect((await begin(ADA)).result.resultType).toBe("task");
    expect((await begin(ADA)).error.code).toBe(42900);
  });

  test("all anonymous callers share one allowance", async () => {
    await using on = await limitedTo({ anonymousLiveTasks: 2, liveTasks: 1 });
    const begin = () => on.ask("tools/call", { name: "ask" });
    expect([(await begin()).result.resultType, (await begin()).result.resultType]).toEqual(["task", "task"]);
    expect((await begin()).error.code).toBe(42900);
    expect(limited).toEqual(["anonymousLiveTasks"]);
  });

  test("a hand-off that was refused is none: the same round makes the task once there is room", async () => {
    await using on = await limitedTo({ anonymousLiveTasks: 1 });
    const { requestState } = await on.call("hand_off");
    const handOff = (name: string) =>
      on.ask("tools/call", { name: "hand_off", arguments: {}, requestState, inputResponses: given(name) });
    const { taskId: other } = await on.call("ask");
    for (let attempt = 0; attempt < 3; attempt++) expect((await handOff("Ann")).error.code).toBe(42900);
    await on.cancel(other);
    const { taskId } = (await handOff("Ann")).result;
    expect((await on.until(taskId, "completed")).result.content[0].text).toBe("Ann");
  });

  test("T1: a replay gets its handle also when there is no room", async () => {
    await using on = await limitedTo({ anonymousLiveTasks: 1 });
    const { requestState } = await on.call("hand_off");
    const handOff = () => on.call("hand_off", {}, { requestState, inputResponses: given("Ann") });
    const { taskId } = await handOff();
    await on.until(taskId, "completed");
    await on.call("ask");
    expect((await handOff()).taskId).toBe(taskId);
  });
});
