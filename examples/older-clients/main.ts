/**
 * The README's server for clients of every revision: `node examples/older-clients/main.ts` on http://127.0.0.1:3000, or
 * with `--stdio`.
 */
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { server } from "../resolve-bug/server.ts";
import { serveBoth, serveBothOverStdio } from "./both.ts";

if (process.argv.includes("--stdio")) {
  await serveBothOverStdio(server);
} else {
  const handle = toNodeHandler(serveBoth(server));
  type NodeRequest = Parameters<typeof handle>[0]; // narrower than node:http's under exactOptionalPropertyTypes
  createServer((request, response) => void handle(request as NodeRequest, response)).listen(3000, "127.0.0.1");
}
