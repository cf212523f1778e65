// volley-mcp/node: serve over node:http, Express, Fastify and what else hands out Node's request and response.
export { createLoadMonitor, type EventLoopMonitor, type LoadMonitorOptions } from "./server/load-monitor.ts";
export { type NodeHandler, nodeHandler } from "./server/node.ts";
export { type HttpServing, type ServeHttpOptions, serveHttp } from "./server/serve-http.ts";
