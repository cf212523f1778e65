import { isDeepStrictEqual } from "node:util";
import type { Context } from "../flow/index.ts";
import {
  checkOptions,
  type InputRequests,
  type JSONRPCResponse,
  META,
  needOption,
  type OptionNames,
  PROTOCOL_VERSION,
  VolleyError,
} from "../protocol/index.ts";
import { coreOf, type Server } from "../server/index.ts";
import { createMemoryTransport } from "./memory-transport.ts";
import { watchEffects } from "./watch-effects.ts";

export interface DeterminismOptions {
  readonly tool: string;
  readonly arguments?: Record<string, unknown>;
  /** Answers a round: a response for each key, as a client would send it. */
  readonly answer: (requests: InputRequests, round: number) => Record<string, unknown>;
  /** Something that a replay must not change: a counter, a row, the size of a mailbox. Compared by value. */
  readonly observe?: () => unknown;
  /** Default 32. */
  readonly maxRounds?: number;
}

/** What differed or leaked in a round, in one sentence that names the way out. */
export interface DeterminismFinding {
  readonly round: number;
  readonly kind: "asks" | "result" | "effect" | "change" | "resource";
  readonly message: string;
}

const OPTIONS: OptionNames<DeterminismOptions> = {
  tool: true,
  arguments: true,
  answer: true,
  observe: true,
  maxRounds: true,
};

/**
 * Plays each round of a tool twice and says what a replay does differently: other questions, another result, clock or
 * randomness or I/O outside a step, a change made twice, a socket that a suspended run left open.
 *
 * For tests on Node. It wraps globals while it runs, so run it alone.
 *
 * @throws VolleyError `round_limit` when the flow does not end
 * @example
 * ```ts
 * import { checkDeterminism } from "volley-mcp/testing";
 * const findings = await checkDeterminism(server, {
 *   tool: "order", answer: () => ({ size: { action: "accept", content: { size: "M" } } }),
 * });
 * expect(findings).toEqual([]);
 * ```
 */
export async function checkDeterminism(
  server: Server,
  options: DeterminismOptions,
): Promise<readonly DeterminismFinding[]> {
  checkOptions("checkDeterminism", options, OPTIONS);
  needOption("checkDeterminism", options, "tool");
  needOption("checkDeterminism", options, "answer");
  const { registry } = coreOf(server);
  const entry = registry.tools.get(options.tool);
  if (entry === undefined) throw new VolleyError("invalid_options", `There is no tool "${options.tool}".`);
  const watch = watchEffects();
  registry.tools.set(options.tool, {
    ...entry,
    handler: (args, ctx) => watch.run((watched: Context) => entry.handler(args, watched), ctx),
  });
  const findings: DeterminismFinding[] = [];
  const transport = createMemoryTransport(server);
  try {
    let retry: Record<string, unknown> = {};
    for (let round = 1; round <= (options.maxRounds ?? 32); round++) {
      const find = (kind: DeterminismFinding["kind"], message: string): void => {
        findings.push({ round, kind, message });
      };
      const play = (id: number): Promise<JSONRPCResponse> => transport.send(requestOf(options, retry, id), QUIET);
      const resources = openResources();
      const first = await play(round * 2 - 1);
      const observed = snapshot(options.observe);
      const second = await play(round * 2);
      compare(first, second, find);
      if (!isDeepStrictEqual(observed, snapshot(options.observe))) {
        find("change", "A change before the question was made again by the replay. Move it into a step or `once`.");
      }
      const left = await leftOpen(resources);
      if (left !== undefined) {
        find("resource", `The suspended run left a ${left} open. Acquire it with \`ctx.use\`, or inside a step.`);
      }
      for (const effect of watch.effects) {
        find(
          "effect",
          `${effect} was called outside a step: a replay gets another value. Use \`ctx.step\`, \`ctx.now\`, \`ctx.uuid\` or \`ctx.random\`.`,
        );
      }
      (watch.effects as Set<string>).clear();
      const result = "result" in first ? first.result : undefined;
      if (result?.resultType !== "input_required") return findings;
      const requests = (result.inputRequests ?? {}) as InputRequests;
      retry = { requestState: result.requestState, inputResponses: options.answer(requests, round) };
    }
    throw new VolleyError("round_limit", `"${options.tool}" has not ended after ${options.maxRounds ?? 32} rounds.`);
  } finally {
    watch.end();
    registry.tools.set(options.tool, entry);
    await transport.close();
  }
}

const QUIET = { headers: {}, signal: new AbortController().signal, onNotification: (): void => {} };

const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} };

function requestOf(
  { tool, arguments: args = {} }: DeterminismOptions,
  retry: Record<string, unknown>,
  id: number,
): Parameters<ReturnType<typeof createMemoryTransport>["send"]>[0] {
  const _meta = { [META.protocolVersion]: PROTOCOL_VERSION, [META.clientCapabilities]: CAPABILITIES };
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name: tool, arguments: args, ...retry, _meta } };
}

type Find = (kind: DeterminismFinding["kind"], message: string) => void;

function compare(first: JSONRPCResponse, second: JSONRPCResponse, find: Find): void {
  const [one, two] = [outcomeOf(first), outcomeOf(second)];
  const keys = new Set([...Object.keys(one.asks), ...Object.keys(two.asks)]);
  for (const key of keys) {
    if (isDeepStrictEqual(one.asks[key], two.asks[key])) continue;
    find("asks", `The question "${key}" was another one in the replay. Build what it says in a step.`);
  }
  if (!isDeepStrictEqual(one.end, two.end)) {
    find("result", "The replay ended with another result. Read what it depends on in a step.");
  }
}

function outcomeOf(response: JSONRPCResponse): { readonly asks: InputRequests; readonly end: unknown } {
  if ("error" in response) return { asks: {}, end: response.error };
  const { result } = response;
  if (result.resultType !== "input_required") return { asks: {}, end: result };
  return { asks: (result.inputRequests ?? {}) as InputRequests, end: undefined };
}

function snapshot(observe: (() => unknown) | undefined): unknown {
  return observe === undefined ? undefined : structuredClone(observe());
}

function openResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (/TCP|Pipe|FSReq|TLS|UDP/.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

async function leftOpen(before: Map<string, number>): Promise<string | undefined> {
  await new Promise((resolve) => setImmediate(resolve));
  return [...openResources()].find(([name, count]) => count > (before.get(name) ?? 0))?.[0];
}
