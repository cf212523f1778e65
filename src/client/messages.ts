// What a server may send, as text.
import { type JSONRPCNotification, type JSONRPCResponse, readServerMessage, VolleyError } from "../protocol/index.ts";

/** The largest message that is read, in characters (or bytes where they are counted before decoding). */
export const MAX_MESSAGE_SIZE: number = 64 * 1024 * 1024;

/** The error for a message over {@link MAX_MESSAGE_SIZE}. */
export function tooLarge(): VolleyError {
  return new VolleyError(
    "message_invalid",
    `The server sent a message of more than ${MAX_MESSAGE_SIZE} bytes: ask it for less.`,
  );
}

/** Text without the byte order mark that it may begin with. */
export function withoutBom(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Reads a message; `undefined` for text that is no JSON and for what a server may not send, its own requests included. */
export function parseMessage(text: string): JSONRPCResponse | JSONRPCNotification | undefined {
  try {
    return readServerMessage(JSON.parse(withoutBom(text)));
  } catch {
    return undefined;
  }
}

/** Tells a notification from a response. */
export function isNotification(message: JSONRPCResponse | JSONRPCNotification): message is JSONRPCNotification {
  return "method" in message;
}
