// How a call ended, as its client was told.
import { setTimeout as sleep } from "node:timers/promises";
import { isStateRefused } from "../../src/client.ts";
import { RpcError, VolleyError } from "../../src/index.ts";

export type Ending =
  /** `done` is what was done, as JSON: by this flow, or on other answers by another fork of it. */
  | { readonly type: "told"; readonly said: "done" | "conflict" | "nothing"; readonly done: readonly string[] }
  /** The server no longer takes the state. */
  | { readonly type: "refused" }
  /** The server took the call and could not do it; or no answer came. */
  | { readonly type: "failed" | "unheard"; readonly message: string; readonly clear: boolean };

/** The part of a tool's result that both clients have. */
export interface ToolResult {
  readonly isError?: boolean | undefined;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

/** What a result with `isError` may say: each tells what is wrong, or what to do. */
const CLEAR = [/Try again/, /It is not known whether/, /took longer than/];

export function readEnding(result: ToolResult | undefined): Ending {
  if (result === undefined) return { type: "failed", message: "The call ended without a result.", clear: false };
  const text = result.content.map((block) => block.text ?? "").join("\n");
  if (result.isError) return { type: "failed", message: text, clear: CLEAR.some((sentence) => sentence.test(text)) };
  const { said, done } = JSON.parse(text) as Omit<Ending & { readonly type: "told" }, "type">;
  return { type: "told", said, done };
}

export function readFailure(error: unknown): Ending {
  if (isStateRefused(error)) return { type: "refused" };
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { type: "unheard", message, clear: isPassing(error) };
}

/** Whether the request itself failed, so that nobody knows what became of it, and it may be sent again. */
function isPassing(error: unknown): boolean {
  if (VolleyError.is(error)) return error.code === "connection_failed" || error.code === "timeout";
  // Of limits (HTTP 429) and of a closing server (503).
  return RpcError.is(error) && /Try again/.test(error.message);
}

export function saysTryAgain(result: ToolResult | undefined): boolean {
  return result?.isError === true && result.content.some(({ text }) => text !== undefined && /Try again/.test(text));
}

/** Longer than any trouble lasts. */
const PATIENCE_MS = 60_000;

/** Sends a request until it is answered, and again as long as the answer says so. */
export async function insist<T>(send: () => Promise<T>, wantsMore: (answer: T) => boolean): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (let delay = 50; ; delay = Math.min(2 * delay, 1_000)) {
    try {
      const answer = await send();
      if (!wantsMore(answer) || performance.now() >= giveUpAt) return answer;
    } catch (error) {
      if (!isPassing(error) || performance.now() >= giveUpAt) throw error;
    }
    await sleep(delay);
  }
}
