/** What this example takes from the package; with it installed these are `volley-mcp`, `volley-mcp/node` and so on. */
export {
  type Context,
  createServer,
  type InputRequired,
  RpcError,
  type Server,
  type ServerOptions,
  ToolError,
} from "../../src/index.ts";
export { jsonSchema } from "../../src/json-schema.ts";
export { nodeHandler } from "../../src/node.ts";
export { serveStdio } from "../../src/stdio.ts";
export { createSqliteEngine } from "../../src/tasks/sqlite.ts";
export { createTasks, createWorker } from "../../src/tasks.ts";
