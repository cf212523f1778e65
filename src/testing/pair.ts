import { type Client, type ConnectOptions, connect, type FormWords, type UrlWords } from "../client/index.ts";
import { checkOptions, type OptionNames } from "../protocol/index.ts";
import { coreOf, type Server } from "../server/index.ts";
import { ANONYMOUS, type Principal } from "../state/index.ts";
import { createMemoryTransport } from "./memory-transport.ts";

export interface PairOptions<FormWord extends FormWords = FormWords, UrlWord extends UrlWords = UrlWords>
  extends ConnectOptions<FormWord, UrlWord> {
  /** Who is calling, in place of what `authenticate` would find. Default: anonymous. */
  readonly principal?: Principal;
  /**
   * As what the server counts. Default `"http"`: other processes may serve the same clients, so `once` and `singleUse` are
   * refused without a shared `ledger` or `singleInstance`, as they would be there. `"stdio"`: it is this client's alone.
   */
  readonly over?: "http" | "stdio";
}

const OPTIONS: OptionNames<PairOptions> = {
  form: true,
  url: true,
  sampling: true,
  roots: true,
  clientInfo: true,
  headers: true,
  fetch: true,
  maxRounds: true,
  legTimeoutMs: true,
  maxTotalTimeoutMs: true,
  pace: true,
  tasks: true,
  onWarning: true,
  signal: true,
  principal: true,
  over: true,
};

/**
 * Joins a client and a server in memory: every message goes through as text, every check but those of HTTP's headers and
 * keys is made. A call that is given up or takes too long ends as it would over HTTP, and the handler's signal fires.
 *
 * @example
 * ```ts
 * import { createPair } from "volley-mcp/testing";
 * const client = await createPair(server, { form: () => ({ action: "accept", content: { size: "M" } }) });
 * expect((await client.callTool("order", {})).content).toEqual([{ type: "text", text: "M" }]);
 * ```
 */
export async function createPair<const FormWord extends FormWords, const UrlWord extends UrlWords>(
  server: Server,
  options: PairOptions<FormWord, UrlWord> = {},
): Promise<Client> {
  checkOptions("createPair", options, OPTIONS);
  const { principal = ANONYMOUS, over = "http", ...client } = options;
  if (over === "http") coreOf(server).mayBeMany = true;
  return await connect(createMemoryTransport(server, principal), client);
}
