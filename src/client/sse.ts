// An SSE response stream: notifications about one request, then its answer.
import { createParser } from "eventsource-parser";
import { type JSONRPCNotification, type JSONRPCResponse, type RequestId, VolleyError } from "../protocol/index.ts";
import { isNotification, MAX_MESSAGE_SIZE, parseMessage, tooLarge, withoutBom } from "./messages.ts";

/** Where a stream's messages go. */
export interface StreamTarget {
  readonly onNotification: (notification: JSONRPCNotification) => void;
  readonly onResponse: (response: JSONRPCResponse) => void;
  readonly onFailure: (error: VolleyError) => void;
}

/** Takes the text of a stream as it arrives. */
export interface StreamReader {
  feed(text: string): void;
  /** Says that nothing follows; a failure when the answer has not come. */
  end(): void;
}

/**
 * Reads the stream of the request `id`. Events of other kinds, comments, empty events and what is no message are passed
 * over; nothing is read after the answer.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
 */
export function createStreamReader(id: RequestId, target: StreamTarget): StreamReader {
  let done = false;
  let isFirst = true;
  const parser = createParser({
    maxBufferSize: MAX_MESSAGE_SIZE,
    onEvent(event) {
      if (done || (event.event !== undefined && event.event !== "message")) return;
      const message = parseMessage(event.data);
      if (message === undefined) return;
      if (isNotification(message)) return target.onNotification(message);
      if (!answers(message, id)) return;
      done = true;
      target.onResponse(message);
    },
    onError(error) {
      if (done || error.type !== "max-buffer-size-exceeded") return;
      done = true;
      target.onFailure(tooLarge());
    },
  });
  return {
    feed(text) {
      if (done) return;
      // The parser knows the mark as bytes only.
      parser.feed(isFirst ? withoutBom(text) : text);
      isFirst &&= text === "";
    },
    end() {
      if (done) return;
      // Some servers leave out the blank line after the last event.
      parser.feed("\n\n");
      if (done) return;
      done = true;
      target.onFailure(new VolleyError("connection_failed", "The server closed the stream before it answered."));
    },
  };
}

/** Whether a response is for the request `id`; an error without an id is, since it came on that request's own stream. */
export function answers(response: JSONRPCResponse, id: RequestId): boolean {
  return response.id === undefined ? "error" in response : response.id === id;
}
