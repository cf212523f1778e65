/** `node examples/everything/main.ts --port N`, or `--stdio`. */
import { createServer as createHttpServer } from "node:http";
import { parseArgs } from "node:util";
import { createEverything } from "./server.ts";
import { nodeHandler, serveStdio } from "./volley.ts";

const USAGE = `Serves one MCP server that shows every feature.

  --port N      HTTP on 127.0.0.1:N (0 picks a free port), endpoint /mcp; default 3000
  --stdio       standard input and output instead
  --help        this text

With VOLLEY_KEYS (see \`volley keygen\`) several processes serve one another's rounds; without, one process does. What
happens once is recorded in one process's memory either way.`;

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "3000" },
    stdio: { type: "boolean" },
    help: { type: "boolean" },
  },
});

if (values.help) {
  console.log(USAGE);
} else if (values.stdio) {
  await serveStdio(createEverything());
} else {
  listen(Number(values.port));
}

function listen(port: number): void {
  const server = createEverything(
    process.env.VOLLEY_KEYS ? { audience: "https://everything.example/mcp" } : { singleInstance: true },
  );
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
    http.closeAllConnections();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
}
