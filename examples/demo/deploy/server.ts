/**
 * One process that serves calls and works on tasks.
 *
 *   node examples/demo/deploy/server.ts --db FILE --name NAME --audience URL    HTTP on a free port; prints `listening URL`
 *
 * The key comes from VOLLEY_KEYS. Tasks, and what `once` has done, are in the file `FILE-volley`, which all processes share.
 */
import { parseArgs } from "node:util";
import { createServer } from "../../../src/index.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite.ts";
import { createSqliteEngine } from "../../../src/tasks/sqlite.ts";
import { createTasks, createWorker } from "../../../src/tasks.ts";
import { serve } from "../serve.ts";
import { openPlatform } from "./platform.ts";
import { registerDeploy } from "./tool.ts";

const { values } = parseArgs({
  options: {
    db: { type: "string", default: "platform.db" },
    name: { type: "string", default: "deploy" },
    audience: { type: "string", default: "http://127.0.0.1/mcp" },
  },
});

const path = `${values.db}-volley`;
const engine = createSqliteEngine({ path });
const server = createServer({
  name: "deploy",
  version: "1.0.0",
  // Every result says which process it comes from.
  title: values.name,
  audience: values.audience,
  ledger: createSqliteLedger({ path }),
  tasks: createTasks({ engine, pollIntervalMs: 250 }),
});
registerDeploy(server, openPlatform(values.db, values.name));
// The others take a task four seconds after the process that had it was last heard of.
await createWorker(server, { engine, leaseMs: 4_000, sweepMs: 250 });
serve(server);
