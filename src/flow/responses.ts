/// <reference lib="es2024.string" />
import { checkJson, ErrorCode, isObject, RpcError } from "../protocol/index.ts";

/** What a client sent as `inputResponses`: nothing in it is looked at before somebody has asked for it. */
export type Responses = Readonly<Record<string, unknown>>;

/** Answers by key, each checked when it is looked at. */
export type LooseAnswers = Pick<ReadonlyMap<string, unknown>, "has" | "get">;

/** More than any handler asks for at once. */
const MOST_READ = 1_000;
const MOST_TOLD = 10;

// S16: what is no object at all is malformed; what is an object but of no use is asked for again.
export function readResponses(value: unknown): Responses | undefined {
  if (value === undefined || isObject(value)) return value;
  throw new RpcError(ErrorCode.InvalidParams, "inputResponses must be an object.");
}

/**
 * All answers that JSON carries, for who cannot say which were asked for; the others are as if they had not come.
 *
 * @throws RpcError -32602 for more than anybody asks for
 */
export function soundOnes(responses: Responses): Responses {
  const keys = Object.keys(responses);
  if (keys.length > MOST_READ) {
    throw new RpcError(ErrorCode.InvalidParams, `inputResponses may hold at most ${MOST_READ} answers here.`);
  }
  return Object.fromEntries(keys.filter((key) => isSound(responses, key)).map((key) => [key, responses[key]]));
}

export function looseAnswers(responses: Responses): LooseAnswers {
  const has = (key: string): boolean => Object.hasOwn(responses, key) && isSound(responses, key);
  return { has, get: (key) => (has(key) ? responses[key] : undefined) };
}

/** Some of the keys, for a trace. */
export function someKeys(responses: Responses): string[] {
  const keys = Object.keys(responses).slice(0, MOST_TOLD);
  return keys.map((key) => key.slice(0, 128).toWellFormed());
}

function isSound(responses: Responses, key: string): boolean {
  try {
    checkJson({ [key]: responses[key] });
    return true;
  } catch {
    return false;
  }
}
