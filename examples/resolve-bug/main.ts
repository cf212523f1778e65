/** `node examples/resolve-bug/main.ts`: the README's server on http://127.0.0.1:3000, for any MCP client. */
import { createServer } from "node:http";
import { nodeHandler } from "../../src/node.ts";
import { server } from "./server.ts";

createServer(nodeHandler(server)).listen(3000, "127.0.0.1");
