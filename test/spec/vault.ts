// A server worth attacking: it moves money once somebody has said yes, and knows how often its handlers ran.
import * as z from "zod";
import { type Context, createServer, type ServerOptions } from "../../src/index.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";
import { authenticate, serve, tracing, type Wire } from "./wire.ts";

/** Two keys of 32 known bytes. */
export const KEY_1: string = `vk1_${Buffer.alloc(32, 1).toString("base64url")}`;
export const KEY_2: string = `vk1_${Buffer.alloc(32, 2).toString("base64url")}`;

export interface Vault extends Wire {
  readonly clock: FakeClock;
  /** How often any handler was begun. */
  readonly ran: () => number;
  /** What was moved. */
  readonly moved: string[];
  /** Why states were refused, in order. */
  readonly refusals: () => string[];
  readonly trace: ReturnType<typeof tracing>;
}

export async function openVault(options: Partial<ServerOptions> = {}): Promise<Vault> {
  const clock = createFakeClock();
  const trace = tracing();
  const moved: string[] = [];
  let ran = 0;
  const server = createServer({
    name: "vault",
    version: "1.0.0",
    keys: [KEY_1],
    audience: "https://vault.example/mcp",
    singleInstance: true,
    authenticate,
    clock,
    trace: trace.trace,
    ...options,
  });
  const input = z.object({ to: z.string(), amount: z.number(), note: z.string().optional() });
  for (const name of ["transfer", "transfer_too"]) {
    server.tool(name, { input }, async ({ to, amount }, ctx) => {
      ran++;
      if (!(await ctx.confirm("sure", `Send ${amount} to ${to}?`))) return "Kept.";
      const { memo } = await ctx.elicit("memo", { message: "What for?", schema: z.object({ memo: z.string() }) });
      return await ctx.once("move", () => {
        moved.push(`${amount} to ${to} for ${memo}`);
        return `Sent, number ${moved.length}.`;
      });
    });
  }
  // The same name, and the same arguments, for two methods.
  const show = async (_args: unknown, ctx: Context): Promise<string> => {
    ran++;
    return (await ctx.confirm("sure", "Show it?")) ? "Shown." : "Hidden.";
  };
  const shown = z.object({ to: z.string() });
  server.tool("show", { input: shown }, show);
  server.prompt("show", { arguments: shown }, show);
  server.tool("vault://show", {}, show);
  server.resource("show", "vault://show", {}, show);
  const wire = await serve(server);
  return {
    ...wire,
    clock,
    moved,
    trace,
    ran: () => ran,
    refusals: () => trace.of("state_refused").map((event) => (event.type === "state_refused" ? event.reason : "")),
  };
}

/** What every refused state is answered with, whatever is wrong with it. */
export function refusal(id: unknown): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32602,"message":"The request state is not valid for this request. Start again without requestState and inputResponses.","data":{"reason":"state_refused"}}}`;
}

/** What the holder of a state is told that was in order, but has expired. */
export function expiry(id: unknown): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32602,"message":"The request state has expired: the answers came too late. Start again without requestState and inputResponses.","data":{"reason":"state_expired"}}}`;
}

export const TEN = { to: "carol", amount: 10 };
export const YES = { sure: { action: "accept", content: { confirm: true } } };
export const MEMO = { memo: { action: "accept", content: { memo: "rent" } } };
