/** `node examples/everything/main.ts --port N`, or `--stdio`. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createEverything } from "./server.ts";
import { createSqliteEngine, createTasks, createWorker, nodeHandler, serveStdio } from "./volley.ts";

const USAGE = `Serves one MCP server that shows every feature.

  --port N      HTTP on 127.0.0.1:N (0 picks a free port), endpoint /mcp; default 3000
  --stdio       standard input and output instead
  --tasks FILE  keeps tasks in this file, over restarts too (with VOLLEY_KEYS); default a temporary one
  --help        this text

With VOLLEY_KEYS (see \`volley keygen\`) several processes serve one another's rounds; without, one process does. What
happens once is recorded in one process's memory either way.`;

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "3000" },
    stdio: { type: "boolean" },
    tasks: { type: "string" },
    help: { type: "boolean" },
  },
});

if (values.help) {
  console.log(USAGE);
} else if (values.stdio) {
  const { server, close } = await begin();
  await serveStdio(server);
  await close();
} else {
  await listen(Number(values.port));
}

/** The server, and a worker for its tasks in the same process. */
async function begin() {
  const folder = values.tasks === undefined ? mkdtempSync(join(tmpdir(), "everything-")) : undefined;
  const engine = createSqliteEngine({ path: values.tasks ?? join(folder ?? "", "tasks.db") });
  const server = createEverything({
    singleInstance: true,
    ...(process.env.VOLLEY_KEYS ? { audience: "https://everything.example/mcp" } : {}),
    tasks: createTasks({ engine, pollIntervalMs: 500 }),
  });
  const worker = await createWorker(server, { engine, concurrency: 50 });
  const close = async (): Promise<void> => {
    await worker.close(500);
    await engine.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  return { server, close };
}

async function listen(port: number): Promise<void> {
  const { server, close } = await begin();
  const handle = nodeHandler(server);
  const http = createHttpServer((request, response) => {
    if (request.url?.split("?", 1)[0] === "/mcp") return handle(request, response);
    response.writeHead(404).end();
  });
  http.listen(port, "127.0.0.1", () => {
    const address = http.address();
    if (address !== null && typeof address === "object") {
      console.log(`listening http://127.0.0.1:${address.port}/mcp`);
    }
  });

  const stop = async (): Promise<void> => {
    http.close();
    await server.close(1_000);
    await close();
    http.closeAllConnections();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
}
