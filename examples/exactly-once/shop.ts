import { z } from "zod";
import { Conflict, createServer, Failed, type Ledger, NotDone, type Server } from "../../src/index.ts";
import { type Bank, Refused, Unreachable } from "./bank.ts";

const Order = z.object({ order: z.string(), cents: z.int() });
const Amount = z.object({ cents: z.int() });
const MONTH = 30 * 24 * 60 * 60_000;

/** A server that takes money: what the guide on `once` shows. */
export function createShop(bank: Bank, ledger: Ledger): Server {
  const server = createServer({ name: "shop", version: "1.0.0", singleInstance: true, ledger });

  server.tool("charge", { input: Order }, async ({ order, cents }, ctx) => {
    if (!(await ctx.confirm("sure", `Charge ${cents} cents for order ${order}?`))) return "Nothing was charged.";
    const receipt = await ctx.once("charge", { key: order, keepFor: MONTH }, ({ idempotencyKey }) =>
      bank.charge(cents, idempotencyKey),
    );
    return `Charged: receipt ${receipt}.`;
  });

  server.tool("charge_carefully", { input: Order }, async ({ order, cents }, ctx) => {
    const receipt = await ctx.once(
      "charge",
      {
        key: order,
        keepFor: MONTH,
        recover: async ({ idempotencyKey }) => (await bank.find(idempotencyKey)) ?? bank.charge(cents, idempotencyKey),
      },
      async ({ idempotencyKey }) => {
        try {
          return await bank.charge(cents, idempotencyKey);
        } catch (error) {
          if (error instanceof Unreachable) throw new NotDone("The bank cannot be reached. Nothing was charged.");
          if (error instanceof Refused) throw new Failed(`The bank refuses: ${error.message}`);
          throw error; // Nobody knows: the next try calls `recover`.
        }
      },
    );
    return `Charged: receipt ${receipt}.`;
  });

  server.tool("donate", {}, async (_args, ctx) => {
    const { cents } = await ctx.elicit("amount", { message: "How many cents do you give?", schema: Amount });
    try {
      const receipt = await ctx.once("charge", ({ idempotencyKey }) => bank.charge(cents, idempotencyKey));
      return `Thank you for ${cents} cents: receipt ${receipt}.`;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      return `You have given before, with another answer: receipt ${String(error.done[0]?.value)}.`;
    }
  });

  return server;
}
