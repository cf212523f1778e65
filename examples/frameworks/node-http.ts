import { createServer, type Server as HttpServer } from "node:http";
import type { Server } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";

/** Volley on plain node:http. */
export function createApp(server: Server): HttpServer {
  return createServer(nodeHandler(server));
}
