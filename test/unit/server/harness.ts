import { createServer, type ServerOptions } from "../../../src/index.ts";
import { coreOf, type Server } from "../../../src/server/index.ts";
import { message } from "../../spec/http-entry.ts";
import { MemoryCall } from "./memory-call.ts";

/** A server of one process that prints nothing. */
export function create(options: Partial<ServerOptions> = {}): Server {
  return createServer({ name: "test", version: "1.0.0", singleInstance: true, trace: () => undefined, ...options });
}

/** Asks a server without a transport; the parsed response. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
export async function ask(server: Server, method: string, params: object = {}, meta: object = {}): Promise<any> {
  const body = message(method, { ...params }, { ...meta });
  const reply = await coreOf(server).handle(body, new MemoryCall());
  return JSON.parse(reply.body as string);
}

export const ELICITATION = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
