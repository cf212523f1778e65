import express, { type Express } from "express";
import type { Server } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";

/** Volley in Express 5: one handler on one path, before or behind `express.json()`. */
export function createApp(server: Server): Express {
  const app = express();
  app.all("/mcp", nodeHandler(server));
  return app;
}
