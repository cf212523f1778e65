// Volley as it is installed, built, from its start to its first answer.
import { createServer as createHttpServer } from "node:http";
import { createServer } from "volley-mcp";
import { nodeHandler } from "volley-mcp/node";
import * as z from "zod";

const server = createServer({ name: "bench", version: "1.0.0", singleInstance: true });
server.tool("add", { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(a + b));
const http = createHttpServer(nodeHandler(server));
http.listen(0, "127.0.0.1", () => process.send({ port: http.address().port }));
