// One process of the fleet: the shop's server, and what befalls it when a flow's plan says so.
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { z } from "zod";
import { systemClock } from "../../src/flow/index.ts";
import { Conflict, type Context, createServer, VolleyError, type WorkScope } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";
import { openStore } from "../ledger/stores.ts";
import { authenticate } from "./authenticate.ts";
import { beStopped } from "./be-stopped.ts";
import type { Trouble } from "./schedule.ts";
import { type Asked, BRIEF_MS, GO_ON, LEASE_MS, type Said, type ServerTask } from "./server-task.ts";
import { shortLeases } from "./short-leases.ts";
import { openTruth } from "./truth.ts";

const HOUR = 3_600_000;
const task = JSON.parse(process.argv[2] ?? "{}") as ServerTask;
let { busy } = task;

const truth = openTruth(task.truth);
const { ledger, mayBeLost } = shortLeases(await openStore(task.kind, task.location), LEASE_MS);
const server = createServer({
  name: "shop",
  version: `${task.version}.0.0`,
  keys: task.keys,
  audience: "https://shop.example/mcp",
  authenticate,
  ledger,
  clock: { ...systemClock, now: () => Date.now() + task.skewMs },
  trace(event) {
    if (event.type === "fault" && !VolleyError.is(event.error)) console.error(event.error);
  },
});

/** The answers that are open, by order: where a connection is cut. */
const open = new Map<string, Set<ServerResponse>>();

function say(said: Said): Promise<void> {
  return new Promise((resolve) => process.send?.(said, undefined, undefined, () => resolve()));
}

const Arguments = z.object({ order: z.string(), trouble: z.string() });
const Item = z.object({ item: z.enum(["tea", "coffee", "milk"]), count: z.int().min(1).max(9) });
const Size = z.object({ size: z.enum(["S", "M", "L"]) });
const Litres = z.object({ litres: z.int().min(1).max(5) });
const Stars = z.object({ stars: z.int().min(1).max(5) });

interface Wish {
  readonly order: string;
  readonly trouble: Trouble;
  readonly what: Readonly<Record<string, unknown>>;
}

/** How an effect is done and looked for. */
interface Way {
  /** The shop knows idempotency keys, and whoever takes over an effect looks first. */
  readonly recovers: boolean;
  readonly byKey?: boolean;
}

/** Buys once, and says what was bought: what the record says, not what this round thinks. */
async function buy(ctx: Context, { order, trouble, what }: Wish, { recovers, byKey }: Way): Promise<string> {
  const act = (key: string, late: () => boolean): string =>
    truth.act({ order, key, value: { order, ...what, receipt: randomUUID() }, knowing: recovers, late });
  const effect = async ({ idempotencyKey }: WorkScope): Promise<string> => {
    const first = (): string => act(idempotencyKey, () => mayBeLost(idempotencyKey));
    if (trouble !== "none" && trouble !== "cut" && truth.takeTrouble(order, trouble)) {
      if (trouble === "die_after") first();
      if (trouble !== "stop") process.kill(process.pid, "SIGKILL");
      await beStopped();
    }
    return first();
  };
  const recover = ({ idempotencyKey }: WorkScope): string =>
    truth.find(idempotencyKey) ?? act(idempotencyKey, () => true);
  try {
    const options = { ...(recovers ? { recover } : {}), ...(byKey ? { key: order, keepFor: HOUR } : {}) };
    const done = await ctx.once("buy", options, effect);
    if (trouble === "cut" && truth.takeTrouble(order, trouble))
      for (const answer of open.get(order) ?? []) answer.destroy();
    return JSON.stringify({ said: "done", done: [done] });
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    return JSON.stringify({ said: "conflict", done: error.done.map(({ value }) => value) });
  }
}

const NOTHING = JSON.stringify({ said: "nothing", done: [] });

server.tool("order", { input: Arguments, version: task.version }, async ({ order, trouble }, ctx) => {
  const price = await ctx.step("price", () => 3);
  if (busy) await ctx.yield();
  const item = await ctx.elicit("item", { message: `What, for ${price} each?`, schema: Item });
  // Version 2 asks for litres instead of a size.
  const measure =
    task.version === 1
      ? await ctx.elicit("size", { message: "Which size?", schema: Size })
      : await ctx.elicit("litres", { message: "How many litres?", schema: Litres });
  const stock = await ctx.step("stock", () => 12);
  if (busy) await ctx.yield();
  if (!(await ctx.confirm("sure", `${item.count} of ${stock} × ${item.item}?`))) return NOTHING;
  return buy(ctx, { order, trouble: trouble as Trouble, what: { ...item, ...measure } }, { recovers: true });
});

/** Tools that ask what, and whether that is right. */
function shop(name: string, way: Way, times: { readonly ttlMs?: number; readonly flowMs?: number } = {}): void {
  server.tool(name, { input: Arguments, ...times }, async ({ order, trouble }, ctx) => {
    const item = await ctx.elicit("item", { message: "What?", schema: Item });
    if (!(await ctx.confirm("sure", `${item.count} × ${item.item}?`))) return NOTHING;
    return buy(ctx, { order, trouble: trouble as Trouble, what: item }, way);
  });
}

shop("invoice", { recovers: true, byKey: true });
shop("post", { recovers: false });
shop("brief", { recovers: true }, { ttlMs: BRIEF_MS, flowMs: BRIEF_MS });

server.tool("ticket", { input: Arguments }, async ({ order, trouble }, ctx) => {
  const told = await buy(ctx, { order, trouble: trouble as Trouble, what: {} }, { recovers: false });
  await ctx.elicit("stars", { message: "How was it?", schema: Stars });
  return told;
});

const handle = nodeHandler(server);
const http = createHttpServer((req, res) => {
  const order = String(req.headers["x-order"]);
  const answers = open.get(order) ?? new Set();
  open.set(order, answers.add(res));
  res.on("close", () => {
    answers.delete(res);
    if (answers.size === 0) open.delete(order);
  });
  handle(req, res);
});

process.on("message", (asked: Asked) => {
  if (asked === "weigh") void weigh();
  else if (asked !== GO_ON) busy = asked.busy;
});
process.on("disconnect", () => process.exit());
process.on("SIGTERM", async () => {
  http.close();
  await server.close();
  process.exit();
});

/** The live heap, without what only waits to be collected. */
async function weigh(): Promise<void> {
  for (let time = 0; time < 3; time++) {
    await new Promise(setImmediate);
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  await say({ weighs: heapUsed + external });
}

rmSync(task.socket, { force: true });
http.listen(task.socket, () => void say({ type: "ready" }));
