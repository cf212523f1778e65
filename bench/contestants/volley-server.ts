import { createServer, type Server } from "volley-mcp";
import { generateKey } from "volley-mcp/state";
import { options } from "./serve.ts";

/** A server with every check on; only the rate limit is raised above the load. */
export function createBenchServer(): Server {
  return createServer({
    name: "bench",
    version: "1.0.0",
    keys: [options().key ?? generateKey()],
    audience: "https://bench.example/mcp",
    limits: { anonymousCallsPerMinute: 100_000_000 },
  });
}
