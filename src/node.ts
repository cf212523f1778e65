// volley-mcp/node: serve over node:http, Express, Fastify and what else hands out Node's request and response.

export { type NodeHandler, nodeHandler } from "./server/node/handler.ts";
export { createLoadMonitor, type EventLoopMonitor, type LoadMonitorOptions } from "./server/node/load-monitor.ts";
export { type HttpServing, type ServeHttpOptions, serveHttp } from "./server/node/serve-http.ts";
