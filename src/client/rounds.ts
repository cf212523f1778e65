// One request with all its rounds, up to the next question or the end.
import {
  type CallToolResult,
  type ClientCapabilities,
  checkJson,
  ErrorCode,
  type GetPromptResult,
  type InputRequests,
  type InputResponses,
  isInputRequiredResult,
  type ReadResourceResult,
  type Received,
  type Result,
  RpcError,
  type Task,
  VolleyError,
} from "../protocol/index.ts";
import { refuseUndeclared } from "./asks.ts";
import type { Connection } from "./connection.ts";
import { isStateRefused } from "./errors.ts";
import { untilTaken } from "./insist.ts";
import type { CallOptions } from "./options.ts";
import { sleep, untilEnded } from "./pause.ts";
import type { ResultReader } from "./results.ts";
import { readHandle } from "./task-wire.ts";
import type { ParamHeaders, ToolDirectory } from "./tools.ts";

/** The results of the methods that may take several rounds. */
export interface RoundResults {
  "tools/call": CallToolResult;
  "prompts/get": GetPromptResult;
  "resources/read": Received<ReadResourceResult>;
}

/** The methods that may take several rounds. */
export type RoundMethod = keyof RoundResults;

/** What rounds need of the client. */
export interface Rounds {
  readonly connection: Connection;
  readonly tools: ToolDirectory;
  readonly read: ResultReader;
  readonly maxRounds: number;
  /** How long to wait before the retry of the n-th result in a row that asks nothing, in milliseconds. */
  readonly pace: (attempt: number) => number;
}

/** A request, as its first round sent it. */
export interface Flow<M extends RoundMethod> {
  readonly method: M;
  readonly params: Readonly<Record<string, unknown>>;
  readonly capabilities: ClientCapabilities;
  readonly options: CallOptions;
  /** A caller by hand is given what the next request brings back when that request fails: without it the flow would be lost. */
  readonly byHand?: boolean;
}

/** What a retry adds to the params of the first request. */
export interface Retry {
  readonly inputResponses?: InputResponses;
  readonly requestState?: string;
}

/** A flow that waits for answers. */
export interface Waiting {
  /** How many rounds the server has answered. */
  readonly round: number;
  /** By the server's keys, without a prototype. */
  readonly requests: InputRequests;
  /** What the retry brings back; undefined where it brings nothing back. */
  readonly requestState: string | undefined;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

/** Where a flow stands after a round. */
export type Standing<M extends RoundMethod> =
  | { readonly type: "complete"; readonly round: number; readonly result: RoundResults[M] }
  | { readonly type: "waiting"; readonly waiting: Waiting }
  /** A tool goes on as a task; no rounds follow. */
  | { readonly type: "task"; readonly task: Task };

/**
 * Sends the next round, and further ones as long as the server asks nothing; `before` is the last one that was answered.
 *
 * Each round is a request of its own with a fresh id and the params of the first; a retry adds the answers and the state
 * of the result that it follows, each only if there are any.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow
 */
export async function play<M extends RoundMethod>(
  rounds: Rounds,
  flow: Flow<M>,
  before?: { readonly round: number; readonly retry: Retry; readonly endedAt: number },
): Promise<Standing<M>> {
  const { options } = flow;
  const maxRounds = options.maxRounds ?? rounds.maxRounds;
  let endedAt = before?.endedAt ?? performance.now();
  /** The last round that asked nothing. */
  let ticket: Waiting | undefined;
  for (let round = (before?.round ?? 0) + 1, quiet = 1; ; round++, quiet++) {
    const startedAt = performance.now();
    let result: Result;
    try {
      result = await send(rounds, flow, ticket === undefined ? (before?.retry ?? {}) : retryOf(ticket));
    } catch (error) {
      if (ticket === undefined || !mayTryAgain(rounds, flow, error)) throw error;
      return { type: "waiting", waiting: ticket };
    }
    const waitMs = startedAt - endedAt;
    endedAt = performance.now();
    const waiting = result.resultType === "input_required" ? readWaiting(result, flow.method, round) : undefined;
    options.onRound?.({
      round,
      done: waiting === undefined,
      requests: waiting?.requests ?? {},
      stateBytes:
        waiting?.requestState === undefined ? undefined : new TextEncoder().encode(waiting.requestState).length,
      ms: endedAt - startedAt,
      waitMs,
      meta: result._meta,
    });
    const sep = flow.params.task !== undefined;
    // SEP-2322 itself has no type for these.
    if (result.resultType === "task" || (sep && result.task !== undefined))
      return { type: "task", task: readHandle(result, sep) };
    if (waiting === undefined) return { type: "complete", round, result: await readComplete(rounds, flow, result) };
    if (round > maxRounds) {
      throw new VolleyError(
        "round_limit",
        `The server has asked for more ${round} times in one ${flow.method}: raise maxRounds if that is right.`,
      );
    }
    if (Object.keys(waiting.requests).length > 0) {
      refuseUndeclared(waiting.requests, flow.capabilities);
      return { type: "waiting", waiting };
    }
    await sleep(rounds.pace(quiet), options.signal, rounds.connection.closing);
    ticket = waiting;
  }
}

function mayTryAgain({ connection }: Rounds, flow: Flow<RoundMethod>, error: unknown): boolean {
  const isOver = flow.options.signal?.aborted === true || connection.closing.aborted;
  return flow.byHand === true && !isOver && !isStateRefused(error);
}

/** What the next request adds, exactly as the result gave it. */
export function retryOf(waiting: Waiting, inputResponses?: InputResponses): Retry {
  return {
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(waiting.requestState === undefined ? {} : { requestState: waiting.requestState }),
  };
}

async function send<M extends RoundMethod>(rounds: Rounds, flow: Flow<M>, retry: Retry): Promise<Result> {
  const { connection, tools } = rounds;
  const { method, capabilities, options } = flow;
  const params: Record<string, unknown> = { ...flow.params, ...retry };
  const request = (paramHeaders: ParamHeaders = {}): Promise<Result> =>
    untilTaken(connection, options.signal, () =>
      connection.request({ method, params, paramHeaders, capabilities }, options),
    );
  if (method !== "tools/call") return request();
  const name = String(params.name);
  const call = async (): Promise<Result> => {
    const headers = tools.headersFor(name, params.arguments);
    return request(
      headers instanceof Promise ? await untilEnded(headers, options.signal, connection.closing) : headers,
    );
  };
  try {
    return await call();
  } catch (error) {
    if (!RpcError.is(error) || error.code !== ErrorCode.HeaderMismatch) throw error;
    // The tool's schema has changed since it was listed.
    tools.forget();
    return call();
  }
}

function readWaiting(result: Result, method: string, round: number): Waiting {
  if (!isInputRequiredResult(result)) {
    throw new VolleyError(
      "message_invalid",
      `The server asks for more in ${method}, but not in a way that can be answered.`,
    );
  }
  const requests: InputRequests = Object.create(null);
  for (const [key, request] of Object.entries(result.inputRequests ?? {})) requests[key] = request;
  try {
    checkJson(requests);
  } catch (cause) {
    throw new VolleyError("message_invalid", `The server's questions in ${method} cannot be read.`, { cause });
  }
  return { round, requests, requestState: result.requestState, meta: result._meta };
}

async function readComplete<M extends RoundMethod>(
  rounds: Rounds,
  flow: Flow<M>,
  result: Result,
): Promise<RoundResults[M]> {
  const { method, params } = flow;
  const target = String(params.name ?? params.uri);
  const read = await rounds.read(method, result, `${method} ${JSON.stringify(target)}`);
  if (method === "tools/call") await rounds.tools.check(target, read as CallToolResult);
  return read;
}
