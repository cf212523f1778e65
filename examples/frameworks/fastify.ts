import fastify, { type FastifyInstance } from "fastify";
import type { Server } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";

/** Volley in Fastify 5, which has parsed the body already and must leave the reply alone. */
export function createApp(server: Server): FastifyInstance {
  const app = fastify();
  const handle = nodeHandler(server);
  app.all("/mcp", (request, reply) => {
    reply.hijack();
    handle(request.raw, reply.raw, request.body);
  });
  return app;
}
