import { type Client, type ConnectOptions, connect } from "../client/index.ts";
import type { Server } from "../server/index.ts";
import { ANONYMOUS, type Principal } from "../state/index.ts";
import { createMemoryTransport } from "./memory-transport.ts";

/**
 * Joins a client and a server in memory: every message goes through as text, every check but those of HTTP is made.
 *
 * @example
 * ```ts
 * import { createPair } from "volley-mcp/testing";
 * const client = await createPair(server, { form: () => ({ action: "accept", content: { size: "M" } }) });
 * expect((await client.callTool("order", {})).content).toEqual([{ type: "text", text: "M" }]);
 * ```
 */
export function createPair(
  server: Server,
  options: ConnectOptions & { readonly principal?: Principal } = {},
): Promise<Client> {
  const { principal = ANONYMOUS, ...client } = options;
  return connect(createMemoryTransport(server, principal), client);
}
