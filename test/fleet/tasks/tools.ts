// The shop's tools as tasks, and what befalls their processes when a task's plan says so.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { Context, Server, WorkScope } from "../../../src/index.ts";
import type { ShortLeases } from "../short-leases.ts";
import type { Truth } from "../truth.ts";
import type { Trouble } from "./schedule.ts";
import type { StepLog } from "./step-log.ts";
import { POLL_MS, type Said, type TaskArguments } from "./task-process.ts";

export interface Shop {
  readonly truth: Truth;
  readonly log: StepLog;
  readonly mayBeLost: ShortLeases["mayBeLost"];
  /** Stops this process for longer than a lease. */
  stop(): Promise<void>;
  /** Kills this process, once no stop of it is awaited: a dead one cannot wake without its task. */
  die(): Promise<void>;
  /** Orders whose server dies once their task is stored, by the task's time to live. */
  readonly doomed: Map<number, string>;
}

const Input = z.object({ order: z.string(), trouble: z.string(), ttlMs: z.int() });
const Item = z.object({ item: z.enum(["tea", "coffee", "milk"]), count: z.int().min(1).max(9) });
const Note = z.object({ note: z.string() });
const Size = z.object({ size: z.enum(["S", "M", "L"]) });
const Stars = z.object({ stars: z.int().min(1).max(5) });

const STEP_MS = 60;
const PAUSE_MS = 1_000;

export function registerTools(server: Server, shop: Shop): void {
  server.tool("order", { input: Input }, async (args, ctx) => {
    const item = await ctx.elicit("item", { message: "What?", schema: Item });
    const note = await ctx.elicit("note", { message: "Anything else?", schema: Note });
    if (args.trouble === "birth") shop.doomed.set(args.ttlMs, args.order);
    await ctx.toTask({ ttlMs: args.ttlMs, pollIntervalMs: POLL_MS, message: "Taken" });
    const work = await startWork(shop, args, ctx);
    const picked = await work.step("pick");
    const size = await ctx.elicit("size", { message: "Which size?", schema: Size });
    await ctx.sleep("pause", PAUSE_MS);
    const packed = await work.step("pack");
    const stars = await ctx.elicit("stars", { message: "How many stars?", schema: Stars });
    const sent = await work.step("send");
    const done = await work.buy({ recovers: true });
    return work.end({ ...item, ...note, ...size, ...stars }, [picked, packed, sent], done);
  });

  server.tool("ticket", { input: Input }, async (args, ctx) => {
    await ctx.toTask({ ttlMs: args.ttlMs, pollIntervalMs: POLL_MS });
    const work = await startWork(shop, args, ctx);
    // Asked while a step goes on, both together.
    const [picked, size, stars] = await Promise.all([
      work.step("pick"),
      ctx.elicit("size", { message: "Which size?", schema: Size }),
      ctx.elicit("stars", { message: "How many stars?", schema: Stars }),
    ]);
    const packed = await work.step("pack");
    const done = await work.buy({ recovers: false });
    return work.end({ ...size, ...stars }, [picked, packed], done);
  });

  server.tool("job", { input: Input, task: "required" }, async (args, ctx) => {
    const work = await startWork(shop, args, ctx);
    const picked = await work.step("pick");
    await ctx.sleep("pause", PAUSE_MS);
    const size = await ctx.elicit("size", { message: "Which size?", schema: Size });
    ctx.progress(1, 2, "Packing");
    const packed = await work.step("pack");
    const stars = await ctx.elicit("stars", { message: "How many stars?", schema: Stars });
    const done = await work.buy({ recovers: true });
    return work.end({ ...size, ...stars }, [picked, packed], done);
  });
}

/** All tries of a task have its trouble together, once. */
export function flowOf(order: string): string {
  return order.replace(/-\d+$/, "");
}

interface Work {
  step(name: string): Promise<string>;
  /** Buys once; `recovers`: whoever takes over the effect looks first. */
  buy(way: { readonly recovers: boolean }): Promise<string>;
  end(answers: Said["answers"], steps: readonly string[], done: string): string;
}

async function startWork(shop: Shop, { order, trouble }: TaskArguments, ctx: Context): Promise<Work> {
  const { truth, log } = shop;
  const strikes = (kind: Trouble): boolean => trouble === kind && truth.takeTrouble(flowOf(order), kind);
  log.run(order);
  if (strikes("first")) await shop.die();
  const act = (key: string, late: () => boolean): string =>
    truth.act({ order, key, value: { order, receipt: randomUUID() }, knowing: true, late });

  return {
    async step(name) {
      let ran = false;
      const value = await ctx.step(name, async () => {
        ran = true;
        log.begin(order, name);
        if (strikes("in_step")) await shop.die();
        if (strikes("stop_in_step")) await shop.stop();
        await delay(STEP_MS);
        return `${order} ${name} ${randomUUID()}`;
      });
      if (ran) log.kept(order, name, value);
      if (ran && strikes("after_step")) await shop.die();
      return value;
    },
    async buy({ recovers }) {
      let ran = false;
      const begin = (): void => {
        ran = true;
        log.begin(order, "buy");
      };
      const effect = async ({ idempotencyKey }: WorkScope): Promise<string> => {
        const isLate = (): boolean => shop.mayBeLost(idempotencyKey);
        const first = (): string => act(idempotencyKey, isLate);
        // Stopped between its claim and here, it begins nothing: another may have done it, and this is counted as late.
        if (isLate()) return first();
        begin();
        if (strikes("die_before")) await shop.die();
        if (strikes("die_after")) {
          first();
          await shop.die();
        }
        if (strikes("stop_in_effect")) await shop.stop();
        return first();
      };
      const recover = ({ idempotencyKey }: WorkScope): string => {
        if (!shop.mayBeLost(idempotencyKey, "last")) begin();
        return truth.find(idempotencyKey) ?? act(idempotencyKey, () => true);
      };
      const done = await ctx.once("buy", recovers ? { recover } : {}, effect);
      if (ran) log.kept(order, "buy", done);
      return done;
    },
    end: (answers, steps, done) => JSON.stringify({ answers, steps, done, by: randomUUID() } satisfies Said),
  };
}
