/**
 * One server process.
 *
 *   node examples/demo/server.ts --db FILE --name NAME --audience URL    HTTP on a free port; prints `listening URL`
 *   node examples/demo/server.ts --db FILE --name NAME --stdio           standard input and output
 *
 * Over HTTP the key comes from VOLLEY_KEYS: processes that have the same key and audience serve one another's rounds. What
 * `once` has done is in the file `FILE-volley`, which all processes share.
 */
import { parseArgs } from "node:util";
import { createServer } from "../../src/index.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite.ts";
import { serveStdio } from "../../src/stdio.ts";
import { registerRules } from "./rules.ts";
import { serve } from "./serve.ts";
import { openTracker } from "./tracker.ts";

const { values } = parseArgs({
  options: {
    db: { type: "string", default: "tracker.db" },
    name: { type: "string", default: "tracker" },
    audience: { type: "string" },
    stdio: { type: "boolean", default: false },
  },
});

const server = createServer({
  name: "tracker",
  version: "1.0.0",
  // Every result says which process it comes from.
  title: values.name,
  ...(values.audience === undefined ? {} : { audience: values.audience }),
  ledger: createSqliteLedger({ path: `${values.db}-volley` }),
});
registerRules(server, openTracker(values.db));

if (values.stdio) await serveStdio(server);
else serve(server);
