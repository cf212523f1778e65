import { expect, test } from "vitest";
import type { TraceEvent } from "../../../src/flow/index.ts";
import { coreOf, type Reply, type Server } from "../../../src/server/index.ts";
import type { Principal } from "../../../src/state/index.ts";
import { createFakeClock } from "../../../src/testing/fake-clock.ts";
import { message } from "../../spec/http-entry.ts";
import { create } from "./harness.ts";
import { MemoryCall } from "./memory-call.ts";

class CallOf extends MemoryCall {
  constructor(principal: Principal) {
    super();
    Object.defineProperty(this, "principal", { value: principal });
  }
}

const ADA: Principal = { type: "user", issuer: "https://id.example", subject: "ada" };
const BOB: Principal = { type: "user", issuer: "https://id.example", subject: "bob" };

/** Status, code and Retry-After of a call of the tool `charge`. */
async function charge(server: Server, order: string, principal?: Principal): Promise<unknown[]> {
  const body = message("tools/call", { name: "charge", arguments: { order } });
  const reply: Reply = await coreOf(server).handle(body, principal ? new CallOf(principal) : new MemoryCall());
  const { result, error } = JSON.parse(reply.body as string);
  return [reply.status, error?.code ?? result.content[0].text, reply.retryAfter];
}

function shop(server: Server, charged: string[]): Server {
  server.tool("charge", { input: ORDER }, async (args, ctx) => {
    const { order } = args as { order: string };
    return await ctx.once("charge", { key: order, keepFor: 1_000 }, () => {
      charged.push(order);
      return `charged ${order}`;
    });
  });
  return server;
}

const ORDER = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate: (value: unknown) => ({ value }),
    jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
  },
};

test("S23: effects have a quota an hour, shared by all anonymous callers: 429 before anything is done, and traced", async () => {
  const clock = createFakeClock();
  const charged: string[] = [];
  const limited: TraceEvent[] = [];
  const trace = (event: TraceEvent): void => void (event.type === "limited" && limited.push(event));
  const server = shop(create({ clock, trace, limits: { anonymousEffectsPerHour: 2, effectsPerHour: 1 } }), charged);
  expect(await charge(server, "a")).toEqual([200, "charged a", undefined]);
  expect(await charge(server, "b")).toEqual([200, "charged b", undefined]);
  await clock.advance(10 * 60_000);
  expect(await charge(server, "c")).toEqual([429, 42900, 3_000]);
  expect(charged).toEqual(["a", "b"]);
  expect(limited).toEqual([{ type: "limited", limit: "anonymousEffectsPerHour" }]);
  await clock.advance(50 * 60_000);
  expect(await charge(server, "c")).toEqual([200, "charged c", undefined]);
});

test("S23: each user's effects are counted apart", async () => {
  const server = shop(create({ clock: createFakeClock(), limits: { effectsPerHour: 1 } }), []);
  expect(await charge(server, "a", ADA)).toEqual([200, "charged a", undefined]);
  expect(await charge(server, "b", ADA)).toEqual([429, 42900, 3_600]);
  expect(await charge(server, "c", BOB)).toEqual([200, "charged c", undefined]);
});

test("S23: a shared limiter is asked with the quota and the caller, and waited for", async () => {
  const asked: unknown[] = [];
  let wait = 0;
  const rateLimiter = {
    take: async (...given: unknown[]) => {
      asked.push(given);
      return wait;
    },
  };
  const charged: string[] = [];
  const server = shop(create({ rateLimiter, limits: { callsPerMinute: 7, effectsPerHour: 5 } }), charged);
  expect(await charge(server, "a", ADA)).toEqual([200, "charged a", undefined]);
  wait = 1_500;
  expect(await charge(server, "b", ADA)).toEqual([429, 42900, 2]);
  expect(charged).toEqual(["a"]);
  const key = '["https://id.example","ada",null]';
  expect(asked).toEqual([
    [{ name: "calls", points: 7, windowMs: 60_000 }, key],
    [{ name: "effects", points: 5, windowMs: 3_600_000 }, key],
    [{ name: "calls", points: 7, windowMs: 60_000 }, key],
  ]);
});

test("Infinity is no limit, and asks nobody", async () => {
  const rateLimiter = {
    take: () => {
      throw new Error("asked");
    },
  };
  const limits = { anonymousCallsPerMinute: Infinity, anonymousEffectsPerHour: Infinity };
  expect(await charge(shop(create({ rateLimiter, limits }), []), "a")).toEqual([200, "charged a", undefined]);
});
