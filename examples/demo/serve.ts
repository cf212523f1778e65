import { createServer as createHttpServer } from "node:http";
import type { Server } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";

/** Serves over HTTP on a free port, prints `listening ORIGIN`, and ends this process once nobody holds its input open. */
export function serve(server: Server): void {
  const http = createHttpServer(nodeHandler(server));
  http.listen(0, "127.0.0.1", () => {
    const address = http.address();
    if (address !== null && typeof address === "object") console.log(`listening http://127.0.0.1:${address.port}`);
  });
  // Whoever started this process holds its input open: when they are gone, however that came, it goes too.
  process.stdin.on("end", () => process.exit()).resume();
}
