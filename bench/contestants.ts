import type { Dialect } from "./cases.ts";
import { CONTESTANT_CPU, type Contestant, startContestant } from "./lib/process.ts";

/** A server that takes part. */
export interface ServerContestant {
  readonly name: string;
  /** Its program, relative to `bench/`. */
  readonly program: string;
  readonly dialect: Dialect;
  /** Names of the cases that it can do; undefined: all. */
  readonly cases?: readonly string[];
}

/** The contestant that the others are compared with. */
export const SUBJECT = "volley";

export const SERVERS: readonly ServerContestant[] = [
  { name: "volley", program: "contestants/volley.ts", dialect: "2026-07-28" },
  { name: "floor", program: "contestants/floor.ts", dialect: "2026-07-28" },
  { name: "official", program: "contestants/official.ts", dialect: "2026-07-28" },
  { name: "tmcp", program: "contestants/tmcp.ts", dialect: "2026-07-28" },
  { name: "mcp-lite", program: "contestants/mcp-lite.ts", dialect: "2025-06-18", cases: ["plain", "list"] },
];

/** A server contestant that runs. */
export interface Running extends ServerContestant {
  readonly process: Contestant;
  readonly url: string;
}

export async function startServer(
  server: ServerContestant,
  options: { readonly tools: number },
  flags: readonly string[] = [],
): Promise<Running> {
  const process = await startContestant(server.program, options, CONTESTANT_CPU, flags);
  const { port } = process.ready as { readonly port: number };
  return { ...server, process, url: `http://127.0.0.1:${port}/mcp` };
}
