// A server with tasks in a file, as a process that can die or stop where a test wants it: `node tasks-server.ts '{...}'`.
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { createServer } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";
import { createSqliteEngine } from "../../src/tasks/sqlite.ts";
import { createTasks, createWorker, type TaskEngine } from "../../src/tasks.ts";
import { authenticate } from "./wire.ts";

/** How one process behaves. */
export interface TasksProcess {
  readonly path: string;
  /** Gets a line for each step that begins and ends. */
  readonly log: string;
  readonly worker?: boolean;
  readonly leaseMs?: number;
  /** Where it kills itself: before the handler's first step, in its second, or once a task is stored. */
  readonly die?: "begun" | "second" | "stored";
  /** How long the second step takes. */
  readonly secondMs?: number;
}

const options = JSON.parse(process.argv[2] ?? "{}") as TasksProcess;
const note = (text: string): void => appendFileSync(options.log, `${text} ${process.pid}\n`);
const dieAt = (point: TasksProcess["die"]): void => {
  if (options.die === point) process.kill(process.pid, "SIGKILL");
};

const sqlite = createSqliteEngine({ path: options.path });
const engine: TaskEngine = {
  ...sqlite,
  store: {
    ...sqlite.store,
    async create(record, most) {
      const stored = await sqlite.store.create(record, most);
      dieAt("stored");
      return stored;
    },
  },
};
const server = createServer({
  name: "tasks",
  version: "1.0.0",
  audience: "https://tasks.example/mcp",
  authenticate,
  tasks: createTasks({ engine, pollIntervalMs: 50 }),
});

server.tool("job", {}, async (_args, ctx) => {
  const { name } = await ctx.elicit("name", { message: "Who?", schema: z.object({ name: z.string() }) });
  await ctx.toTask();
  note("begun");
  dieAt("begun");
  const first = await ctx.step("first", () => {
    note("first");
    return process.pid;
  });
  const second = await ctx.step("second", async () => {
    note("second");
    dieAt("second");
    await delay(options.secondMs ?? 0);
    note("second done");
    return process.pid;
  });
  await ctx.step("third", () => note("third"));
  return JSON.stringify({ name, first, second });
});

const http = createHttpServer(nodeHandler(server));
http.listen(0, "127.0.0.1", () => {
  console.log(`listening http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp ${process.pid}`);
});
if (options.worker) {
  await once(http, "listening");
  await createWorker(server, { engine, leaseMs: options.leaseMs ?? 1_000, sweepMs: 100 });
}
