import { Hono } from "hono";
import type { Server } from "../../src/index.ts";

/** Volley in Hono, on any runtime that Hono runs on. */
export function createApp(server: Server): Hono {
  const app = new Hono();
  app.all("/mcp", (context) => server.fetch(context.req.raw));
  return app;
}
