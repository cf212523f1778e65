// One request with all its rounds, up to the next question or the end.
import {
  type CallToolResult,
  type ClientCapabilities,
  checkJson,
  ErrorCode,
  type GetPromptResult,
  type InputRequest,
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
import type { AskKind } from "./answers.ts";
import { refuseUndeclared } from "./asks.ts";
import type { Connection } from "./connection.ts";
import { isStateRefused } from "./errors.ts";
import type { CallOptions } from "./options.ts";
import { sleep, untilEnded } from "./pause.ts";
import { pendingDataOf, withPending } from "./pending-data.ts";
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
  /**
   * The kinds of questions that a caller by hand answers, who is given the round that asked nothing when the request after it
   * fails.
   */
  readonly byHand?: readonly AskKind[];
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
  /** How many rounds in a row, up to this one, asked to open a page that the person had just agreed to open. */
  readonly repeats: number;
}

/** A round that has been answered. */
export interface Answered {
  readonly waiting: Waiting;
  /** Undefined where nothing was asked. */
  readonly responses: InputResponses | undefined;
  readonly endedAt: number;
}

/** Where a flow stands after a round. */
export type Standing<M extends RoundMethod> =
  | { readonly type: "complete"; readonly round: number; readonly result: RoundResults[M] }
  | { readonly type: "waiting"; readonly waiting: Waiting }
  /** A tool goes on as a task; no rounds follow. */
  | { readonly type: "task"; readonly task: Task };

/**
 * Sends the next round, and further ones as long as the server asks nothing; `answered` is the last one.
 *
 * Each round is a request of its own with a fresh id and the params of the first; a retry adds the answers and the state
 * of the result that it follows, each only if there are any.
 *
 * @throws an error with `pending` when what is known by then would be lost
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow
 */
export async function play<M extends RoundMethod>(
  rounds: Rounds,
  flow: Flow<M>,
  answered?: Answered,
): Promise<Standing<M>> {
  const { options } = flow;
  const { connection } = rounds;
  const maxRounds = options.maxRounds ?? rounds.maxRounds;
  let before = answered;
  let endedAt = before?.endedAt ?? performance.now();
  /** Results in a row that gave nobody anything new to do. */
  let idle = before?.waiting.repeats ?? 0;
  for (let round = (before?.waiting.round ?? 0) + 1; ; round++) {
    let startedAt: number;
    let result: Result;
    try {
      if (idle > 0) await sleep(rounds.pace(idle), options.signal, connection.closing);
      startedAt = performance.now();
      result = await send(rounds, flow, retryOf(before));
    } catch (error) {
      if (before === undefined) throw error;
      if (before !== answered && mayTryAgain(rounds, flow, error)) return { type: "waiting", waiting: before.waiting };
      throw withPending(error, pendingDataOf(connection, flow, before.waiting, before.responses));
    }
    const waitMs = startedAt - endedAt;
    endedAt = performance.now();
    const waiting =
      result.resultType === "input_required" ? readWaiting(result, flow.method, round, answered) : undefined;
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
      const error = new VolleyError(
        "round_limit",
        `The server has asked for more ${round} times in one ${flow.method}: raise maxRounds if that is right.`,
      );
      throw withPending(error, pendingDataOf(connection, flow, waiting));
    }
    if (Object.keys(waiting.requests).length > 0) {
      refuseUndeclared(waiting.requests, flow.capabilities);
      return { type: "waiting", waiting };
    }
    idle++;
    before = { waiting, responses: undefined, endedAt };
  }
}

function mayTryAgain({ connection }: Rounds, flow: Flow<RoundMethod>, error: unknown): boolean {
  const isOver = flow.options.signal?.aborted === true || connection.closing.aborted;
  return flow.byHand !== undefined && !isOver && !isStateRefused(error);
}

/** What the next request adds, exactly as the result gave it. */
function retryOf(before: Answered | undefined): Readonly<Record<string, unknown>> {
  if (before === undefined) return NOTHING;
  const { waiting, responses: inputResponses } = before;
  return {
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(waiting.requestState === undefined ? {} : { requestState: waiting.requestState }),
  };
}

const NOTHING: Readonly<Record<string, unknown>> = Object.freeze({});

async function send<M extends RoundMethod>(rounds: Rounds, flow: Flow<M>, retry: object): Promise<Result> {
  const { connection, tools } = rounds;
  const { method, capabilities, options } = flow;
  const params: Record<string, unknown> = { ...flow.params, ...retry };
  const request = (paramHeaders: ParamHeaders = {}): Promise<Result> =>
    connection.request({ method, params, paramHeaders, capabilities }, options);
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

function readWaiting(result: Result, method: string, round: number, answered: Answered | undefined): Waiting {
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
  const repeats = answered !== undefined && asksAgain(requests, answered) ? answered.waiting.repeats + 1 : 0;
  return { round, requests, requestState: result.requestState, meta: result._meta, repeats };
}

/** Whether a page is to be opened that the person has just agreed to open: the server looks whether they are done there. */
function asksAgain(requests: InputRequests, { waiting, responses = {} }: Answered): boolean {
  const opened = Object.entries(waiting.requests)
    .filter(([key]) => (responses[key] as { action?: unknown } | undefined)?.action === "accept")
    .map(([, request]) => urlOf(request));
  return Object.values(requests).some((request) => urlOf(request) !== undefined && opened.includes(urlOf(request)));
}

function urlOf({ method, params }: InputRequest): string | undefined {
  return method === "elicitation/create" && params.mode === "url" ? params.url : undefined;
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
