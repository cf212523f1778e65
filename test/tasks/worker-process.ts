// A worker in a process of its own, as its first argument says.
import { createServer } from "../../src/index.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite.ts";
import { createTasks, createWorker } from "../../src/tasks.ts";
import { type EngineKind, openEngine } from "./engines.ts";
import { registerLogged } from "./logged-tools.ts";

export interface WorkerTask {
  readonly kind: EngineKind;
  readonly location: string;
  readonly file: string;
  readonly keys: readonly string[];
  readonly leaseMs: number;
  /** The file of the ledger, for tools with effects. */
  readonly ledger?: string;
}

const task = JSON.parse(process.argv[2] ?? "{}") as WorkerTask;
const engine = await openEngine(task.kind, task.location);
const server = createServer({
  name: "test",
  version: "1.0.0",
  keys: task.keys,
  trace: () => undefined,
  ...(task.ledger === undefined ? {} : { ledger: createSqliteLedger({ path: task.ledger }) }),
  tasks: createTasks({ engine }),
});
registerLogged(server, task.file);
const worker = await createWorker(server, { engine, leaseMs: task.leaseMs, sweepMs: 200 });
process.once("SIGTERM", async () => {
  await worker.close(100);
  await engine.close();
  process.exit();
});
console.log("ready");
