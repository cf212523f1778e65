import { z } from "zod";
import { createServer, type Server, type ServerOptions } from "../../src/index.ts";

const Item = z.object({ item: z.string() });
const Items = z.object({ items: z.array(z.string()) });
const Size = z.object({ size: z.enum(["S", "M", "L"]) });
const Payment = z.object({ order: z.string(), cents: z.int() });
const MINUTE = 60_000;

/** What lies outside of the handlers: each call of it is seen. */
export interface Outside {
  stock(item: string): Promise<number>;
  price(item: string, size: string): Promise<number>;
  order(item: string, size: string, idempotencyKey: string): Promise<number>;
  pay(cents: number, idempotencyKey: string): Promise<number>;
  quote(supplier: string, item: string): Promise<number>;
  reserve(item: string): Promise<string>;
  list(item: string): Promise<void>;
  connect(): Promise<Connection>;
}

export interface Connection {
  count(item: string): Promise<number>;
  close(): Promise<void>;
}

/** A server whose handlers are the ones that the guide to replay shows. */
export function createShop(shop: Outside, options: Partial<ServerOptions> = {}): Server {
  const server = createServer({ name: "shop", version: "1.0.0", singleInstance: true, ...options });

  server.tool("order", { input: Item }, async ({ item }, ctx) => {
    const stock = await ctx.step("stock", () => shop.stock(item));
    const { size } = await ctx.elicit("size", { message: `${stock} left. Which size?`, schema: Size });
    const price = await ctx.step("price", () => shop.price(item, size));
    if (!(await ctx.confirm("sure", `Order ${item} in ${size} for ${price} cents?`))) return "Nothing was ordered.";
    const number = await ctx.once("order", ({ idempotencyKey }) => shop.order(item, size, idempotencyKey));
    return `Order ${number}.`;
  });

  server.tool("sizes", { input: Items }, async ({ items }, ctx) => {
    const sizes = await Promise.all(
      items.map((item) => ctx.elicit(`size:${item}`, { message: `Which size of ${item}?`, schema: Size })),
    );
    return sizes.map(({ size }) => size).join(", ");
  });

  server.tool("pay", { input: Payment }, async ({ order, cents }, ctx) => {
    const first = await ctx.race({
      approval: () => ctx.confirm("approve", `Pay ${cents} cents for order ${order}?`),
      limit: () => ctx.sleep("limit", 5 * MINUTE),
    });
    if (first.winner === "limit") return "Nobody approved within five minutes: nothing was paid.";
    if (!first.value) return "Not approved: nothing was paid.";
    const receipt = await ctx.once("pay", ({ idempotencyKey }) => shop.pay(cents, idempotencyKey));
    return `Paid: receipt ${receipt}.`;
  });

  server.tool("quote", { input: Item }, async ({ item }, ctx) => {
    const first = await ctx.race({
      north: () => ctx.step("north", () => shop.quote("north", item)),
      south: () => ctx.step("south", () => shop.quote("south", item)),
    });
    const taken = await ctx.confirm("take", `The ${first.winner} was first: ${first.value} cents. Take it?`);
    return taken ? `Bought in the ${first.winner}.` : "Not bought.";
  });

  server.tool("reserve", { input: Item }, async ({ item }, ctx) => {
    try {
      return await ctx.step("reserve", () => shop.reserve(item));
    } catch (error) {
      const { message, code } = error as { readonly message: string; readonly code?: string };
      if (code !== "SOLD_OUT") throw error;
      if (!(await ctx.confirm("wait", `${message} Put you on the waiting list?`))) return "Not reserved.";
    }
    await ctx.once("list", () => shop.list(item));
    return "You are on the waiting list.";
  });

  server.tool("count", { input: Items }, async ({ items }, ctx) => {
    const connection = await ctx.use(
      () => shop.connect(),
      (opened) => opened.close(),
    );
    const counts: string[] = [];
    for (const item of items) {
      const count = await ctx.step(`count:${item}`, () => connection.count(item));
      if (await ctx.confirm(`right:${item}`, `${count} of ${item}: is that right?`)) counts.push(`${count} ${item}`);
    }
    return counts.join(", ");
  });

  return server;
}
