// One process of the fleet of tasks: the shop's server, a worker, or both.
import { rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { debuglog } from "node:util";
import { createServer } from "../../../src/index.ts";
import { nodeHandler } from "../../../src/node.ts";
import { createTasks, createWorker, type TaskEngine } from "../../../src/tasks.ts";
import { openStore } from "../../ledger/stores.ts";
import { openEngine } from "../../tasks/engines.ts";
import { authenticate } from "../authenticate.ts";
import { beStopped, stopsOver } from "../be-stopped.ts";
import { LEASE_MS, type Said } from "../server-task.ts";
import { shortLeases } from "../short-leases.ts";
import { openTruth } from "../truth.ts";
import { openStepLog } from "./step-log.ts";
import { POLL_MS, type TaskProcess } from "./task-process.ts";
import { flowOf, registerTools } from "./tools.ts";

const debug = debuglog("fleet");
const task = JSON.parse(process.argv[2] ?? "{}") as TaskProcess;
const truth = openTruth(task.truth);
const log = openStepLog(task.log);
const { ledger, mayBeLost } = shortLeases(await openStore(task.kind, task.ledger), LEASE_MS);
const doomed = new Map<number, string>();
const opened = await openEngine(task.kind, task.tasks);
const engine: TaskEngine = {
  ...opened,
  store: {
    ...opened.store,
    async create(record, ...limits) {
      const stored = await opened.store.create(record, ...limits);
      const order = doomed.get(record.ttlMs);
      if (order !== undefined && truth.takeTrouble(flowOf(order), "birth")) {
        log.born(order, record.id);
        process.kill(process.pid, "SIGKILL");
      }
      return stored;
    },
  },
};
const server = createServer({
  name: "shop",
  version: "1.0.0",
  keys: task.keys,
  audience: "https://shop.example/mcp",
  authenticate,
  ledger,
  tasks: createTasks({ engine, pollIntervalMs: POLL_MS }),
  trace(event) {
    if (event.type === "round" && event.within?.task && event.error === "aborted") log.lost();
    // While it was stopped the store has given up on it; what matters of it is counted.
    if (event.type === "fault") debug("%O", event.error);
  },
});

function say(said: Said): Promise<void> {
  return new Promise((resolve) => process.send?.(said, undefined, undefined, () => resolve()));
}

registerTools(server, {
  truth,
  log,
  mayBeLost,
  doomed,
  stop: beStopped,
  async die() {
    await stopsOver();
    process.kill(process.pid, "SIGKILL");
  },
});
const worker = task.works
  ? await createWorker(server, { engine, leaseMs: LEASE_MS, sweepMs: 250, concurrency: 20 })
  : undefined;
const http = task.socket === undefined ? undefined : createHttpServer(nodeHandler(server));

process.on("disconnect", () => process.exit());
process.on("SIGTERM", async () => {
  http?.close();
  await worker?.close(200);
  await server.close(200);
  await engine.close();
  process.exit();
});
if (task.socket !== undefined) rmSync(task.socket, { force: true });
if (http === undefined) await say({ type: "ready" });
else http.listen(task.socket, () => void say({ type: "ready" }));
