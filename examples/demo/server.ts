/**
 * One server process.
 *
 *   node examples/demo/server.ts --db FILE --name NAME --audience URL    HTTP on a free port; prints `listening URL`
 *   node examples/demo/server.ts --db FILE --name NAME --stdio           standard input and output
 *
 * Over HTTP the key comes from VOLLEY_KEYS: processes that have the same key and audience serve one another's rounds.
 */
import { createServer as createHttpServer } from "node:http";
import { parseArgs } from "node:util";
import { createServer } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";
import { serveStdio } from "../../src/stdio.ts";
import { registerRules } from "./rules.ts";
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
});
registerRules(server, openTracker(values.db));

if (values.stdio) {
  await serveStdio(server);
} else {
  const http = createHttpServer(nodeHandler(server));
  http.listen(0, "127.0.0.1", () => {
    const address = http.address();
    if (address !== null && typeof address === "object") console.log(`listening http://127.0.0.1:${address.port}`);
  });
  // Whoever started this process holds its input open: when they are gone, however that came, it goes too.
  process.stdin.on("end", () => process.exit()).resume();
}
