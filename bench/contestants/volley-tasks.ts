/** A tool whose calls become tasks that ask one question: the server and its worker in one process. */

import { createServer } from "volley-mcp";
import { nodeHandler } from "volley-mcp/node";
import { generateKey } from "volley-mcp/state";
import { createTasks, createWorker } from "volley-mcp/tasks";
import * as z from "zod";
import { listen } from "./serve.ts";
import { counted, type EngineCalls, engineOptions, openEngine } from "./task-engine.ts";
import { BugInput, Resolution, text } from "./tools.ts";

const calls: EngineCalls = { reads: 0, writes: 0, wakes: 0 };
const engine = counted(await openEngine(engineOptions()), calls);
const server = createServer({
  name: "bench",
  version: "1.0.0",
  keys: [generateKey()],
  audience: "https://bench.example/mcp",
  limits: { anonymousCallsPerMinute: 1_000_000_000 },
  tasks: createTasks({ engine }),
});

server.tool("resolve_bug", { task: "required", input: BugInput }, async ({ id }, ctx) => {
  const { resolution } = await ctx.elicit("resolution", { message: text.howResolved(id), schema: Resolution });
  return text.closed(id, resolution);
});
server.tool("engine_calls", { input: z.object({}) }, () => JSON.stringify(calls));

// As many as tasks that the load has in flight, as the floor has.
await createWorker(server, { engine, concurrency: 16 });
listen(nodeHandler(server));
