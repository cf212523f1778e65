import { RpcError, ToolError, VolleyError } from "../../protocol/index.ts";
import { Conflict, Failed, InDoubt, NotDone } from "../api/errors.ts";

/** What is remembered of an error: its name, its message, its code, and what an error of ours holds beside. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  readonly data?: unknown;
}

/** What is thrown and is no error is remembered as far as JSON has it. */
const THROWN = "";
/** A message is for people; it travels with every round. */
const LONGEST_MESSAGE = 4_096;

export function toFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: THROWN, message: String(error), data: json(error) };
  const { name } = error;
  const message = error.message.slice(0, LONGEST_MESSAGE).toWellFormed();
  const code = (error as { readonly code?: unknown }).code;
  const data = error instanceof Conflict ? error.done : RpcError.is(error) ? error.data : undefined;
  return {
    name,
    message,
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    ...(data === undefined ? {} : { data: json(data) }),
  };
}

/** The error that a replay throws. */
export function fromFailure({ name, message, code, data }: Failure): unknown {
  if (name === THROWN) return data === undefined ? message : data;
  return Object.assign(revive(name, message, code, data), { name });
}

/**
 * What the handler gets when work fails: what a replay will throw, with the stack of the error itself. Errors of ours come
 * back as what they are.
 */
export function asReplayed(error: unknown, failure: Failure): unknown {
  if (VolleyError.is(error) || RpcError.is(error)) return error;
  const replayed = fromFailure(failure);
  if (error instanceof Error && replayed instanceof Error && error.stack !== undefined) {
    Object.defineProperty(replayed, "stack", { value: error.stack, configurable: true, writable: true });
  }
  return replayed;
}

function revive(name: string, message: string, code: string | number | undefined, data: unknown): Error {
  switch (code) {
    case "tool_error":
      return new ToolError(message);
    case "conflict":
      return Object.assign(new Conflict("", (data ?? []) as Conflict["done"]), { message });
    case "effect_in_doubt":
      return Object.assign(new InDoubt(""), { message });
    case "effect_failed":
      return name === "NotDone" ? new NotDone(message) : new Failed(message);
  }
  if (name === "RpcError" && typeof code === "number") return new RpcError(code, message, data);
  if (name === "VolleyError" && typeof code === "string") return new VolleyError(code as VolleyError["code"], message);
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

function json(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null");
  } catch {
    return undefined;
  }
}
