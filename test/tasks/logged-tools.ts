// Tools whose steps write into a file, common to many processes, when they begin and when they are kept.
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import type { Context, Server } from "../../src/index.ts";

export interface Line {
  readonly pid: number;
  /** `kept` is said by the process whose step was saved, and by it alone. */
  readonly what: "began" | "kept";
  readonly step: string;
}

export function registerLogged(server: Server, file: string): void {
  const log = (what: Line["what"], step: string): void => {
    appendFileSync(file, `${JSON.stringify({ pid: process.pid, what, step } satisfies Line)}\n`);
  };
  const logged = async (ctx: Context, n: number, name: string, ms: number): Promise<string> => {
    let ran = false;
    const value = await ctx.step(name, async () => {
      ran = true;
      log("began", `${n} ${name}`);
      await delay(ms);
      return `${name} ${n}`;
    });
    if (ran) log("kept", `${n} ${name}`);
    return value;
  };
  const input = z.object({ n: z.number() });

  // Odd ones ask in the middle; all wait for a timer.
  server.tool("build", { task: "required", input }, async ({ n }, ctx) => {
    const said = [await logged(ctx, n, "fetch", 20 * (n % 10))];
    await ctx.sleep("pause", 1_000 + 10 * n);
    if (n % 2 === 1) {
      const schema = z.object({ name: z.string() });
      said.push((await ctx.elicit("name", { message: "Who?", schema })).name);
    }
    said.push(await logged(ctx, n, "compile", 300));
    said.push(await logged(ctx, n, "push", 10));
    return said.join(", ");
  });

  // Its process is stopped for longer than its lease.
  server.tool("deploy", { task: "required", input }, async ({ n }, ctx) => {
    await logged(ctx, n, "build", 0);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
    return ctx.once("release", () => {
      log("began", `${n} release`);
      return "released";
    });
  });

  // Each process gets two steps on, and no further.
  let done = 0;
  server.tool("uphill", { task: "required", input }, async ({ n }, ctx) => {
    for (let at = 1; at <= 30; at++) {
      await ctx.step(`step:${at}`, () => {
        if (done === 2) process.kill(process.pid, "SIGKILL");
        done += 1;
        log("began", `${n} step:${at}`);
      });
    }
    return "up";
  });

  server.tool("poison", { task: "required" }, (_args, ctx) =>
    ctx.step("kill", async () => {
      await delay(300);
      process.kill(process.pid, "SIGKILL");
      await delay(1_000);
    }),
  );
  server.tool("innocent", { task: "required", input }, ({ n }, ctx) => logged(ctx, n, "work", 600));

  server.tool("slow", { task: "required", input }, async ({ n }, ctx) => {
    const first = await logged(ctx, n, "first", 500);
    const second = await logged(ctx, n, "second", 3_000);
    return `${first}, ${second}`;
  });
}

export function readLines(file: string): Line[] {
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}
