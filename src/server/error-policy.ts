// Who hears what of an error: the one place that decides it. See docs/errors.md.
import { Buffer } from "node:buffer";
import { ErrorCode, RpcError, VolleyError, type VolleyErrorCode } from "../protocol/index.ts";
import type { Settings } from "./options.ts";

type Policy = Pick<Settings, "errors" | "random" | "trace">;

/** Ordinary endings: a person said no or otherwise before, or a handler says what went wrong. Their message is the caller's. */
const ORDINARY: ReadonlySet<string> = new Set([
  "declined",
  "cancelled",
  "no_answer",
  "conflict",
  "effect_failed",
  "tool_error",
] satisfies VolleyErrorCode[]);

/** What callers can act on although the message is for operators or authors, and may quote other servers. */
const SENTENCES: ReadonlyMap<string, string> = new Map<VolleyErrorCode, string>([
  ["effect_in_doubt", "It is not known whether what was asked for has happened. Look before asking for it again."],
  ["effect_running", "What was asked for is still under way. Try again later."],
  ["ledger_unavailable", "The record of what happened once did not answer. Try again."],
  ["round_limit", "This took more rounds than it may. Start again."],
  [
    "state_too_large",
    "The answers and what was done with them are more than a request may carry. Shorter answers may do.",
  ],
  ["timeout", "This took longer than it may. Try again later."],
  ["aborted", "This was stopped before its end."],
  ["closed", "This was stopped before its end."],
]);

/**
 * What the caller is told of an error that ended a handler. What was not written for the caller is a fault: it goes to the
 * trace, and the caller gets a sentence, with the reference under which the trace has it.
 *
 * @param otherwise the sentence where the error has none for its caller
 */
export function tellCaller(policy: Policy, target: string, error: unknown, otherwise: string): string {
  const code = VolleyError.is(error) ? error.code : "";
  if (ORDINARY.has(code)) return messageOf(error) || otherwise;
  if (policy.errors === "show") {
    policy.trace({ type: "fault", target, error });
    return messageOf(error) || otherwise;
  }
  const reference = Buffer.from(policy.random(4)).toString("hex");
  policy.trace({ type: "fault", target, error, reference });
  return `${SENTENCES.get(code) ?? otherwise} Reference: ${reference}.`;
}

/** Runs a handler whose result has no place for an error: what it throws becomes a JSON-RPC error. */
export async function guard(
  policy: Policy,
  target: string,
  otherwise: string,
  run: () => Promise<string>,
): Promise<string> {
  try {
    return await run();
  } catch (error) {
    if (RpcError.is(error)) throw error;
    throw new RpcError(ErrorCode.InternalError, tellCaller(policy, target, error, otherwise));
  }
}

function messageOf(error: unknown): string {
  if (error instanceof Error || VolleyError.is(error)) return error.message;
  return typeof error === "string" ? error : "";
}
