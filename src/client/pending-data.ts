// A waiting round as plain data, and on the error of a request that would have lost it.
import {
  type InputRequests,
  type InputResponses,
  isInputRequest,
  isObject,
  isOptionalString,
  isRecordOf,
  isStrings,
  VolleyError,
} from "../protocol/index.ts";
import type { AskKind } from "./answers.ts";
import type { Connection } from "./connection.ts";
import { isStateRefused } from "./errors.ts";
import type { Flow, RoundMethod, Waiting } from "./rounds.ts";

/** A {@link PendingRound} as data. */
export interface PendingData {
  readonly type: "volley-mcp/pending-round";
  readonly version: 1;
  /** Where the round waits: connect there. */
  readonly address: string;
  readonly method: RoundMethod;
  readonly params: Readonly<Record<string, unknown>>;
  readonly round: number;
  /** The id of the last request; later ids are greater. */
  readonly lastId: number;
  /** The kinds of questions that are answered by hand. */
  readonly answers: readonly AskKind[];
  readonly requests: InputRequests;
  readonly inputResponses: InputResponses;
  readonly requestState?: string;
}

/** The data of a round that waits, with the answers so far. */
export function pendingDataOf(
  connection: Connection,
  { method, params, byHand = [] }: Flow<RoundMethod>,
  { round, requests, requestState }: Waiting,
  inputResponses: InputResponses = {},
): PendingData {
  return {
    type: "volley-mcp/pending-round",
    version: 1,
    address: connection.server().address,
    method,
    params,
    round,
    lastId: connection.lastId,
    answers: byHand,
    requests,
    inputResponses,
    ...(requestState === undefined ? {} : { requestState }),
  };
}

const METHODS: readonly unknown[] = ["tools/call", "prompts/get", "resources/read"] satisfies RoundMethod[];

/** Reads what {@link PendingRound.toJSON} gave, as data or as text. */
export function readPending(data: unknown): PendingData {
  const read = typeof data === "string" ? parse(data) : data;
  const isPending =
    isObject(read) &&
    read.type === "volley-mcp/pending-round" &&
    read.version === 1 &&
    METHODS.includes(read.method) &&
    isObject(read.params) &&
    Number.isSafeInteger(read.round) &&
    Number.isSafeInteger(read.lastId) &&
    isStrings(read.answers) &&
    isRecordOf(read.requests, isInputRequest) &&
    isRecordOf(read.inputResponses, isObject) &&
    isOptionalString(read.requestState);
  if (isPending) return read as unknown as PendingData;
  throw new VolleyError("invalid_options", "This is no pending round: give what its toJSON() gave, unchanged.");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Gives the error of a call what the call would have gone on with, unless the server will not have it any more. The
 * property is not enumerable: what people have said does not belong into logs.
 */
export function withPending(error: unknown, data: PendingData): unknown {
  if (
    error instanceof Error &&
    Object.isExtensible(error) &&
    !Object.hasOwn(error, "pending") &&
    !isStateRefused(error)
  )
    Object.defineProperty(error, "pending", { value: data });
  return error;
}

/**
 * What people have answered in a call that then failed: the round that could not be sent, or was not answered, as
 * {@link PendingRound.toJSON} has it. Undefined when nothing was lost, or the server has refused the round's state.
 *
 * The same data is the error's property `pending`, which is not enumerable. It holds the arguments, the answers and the
 * server's state: keep it as a secret. Nobody knows whether a request that broke off was heard: what must not happen twice
 * has to be safe at the server.
 *
 * @example
 * ```ts
 * try { return await client.callTool("book", { seat: "12A" }); }
 * catch (error) {
 *   const pending = pendingOf(error);
 *   if (pending === undefined) throw error;
 *   return await client.resume(pending).continue(); // nobody is asked again
 * }
 * ```
 */
export function pendingOf(error: unknown): PendingData | undefined {
  if (!(error instanceof Error) || !("pending" in error)) return undefined;
  return isObject(error.pending) && error.pending.type === "volley-mcp/pending-round"
    ? (error.pending as unknown as PendingData)
    : undefined;
}
