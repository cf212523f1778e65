import { createTraceState, isSpanContextValid, type SpanContext } from "@opentelemetry/api";

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * The span that a `traceparent` names; undefined for what names none.
 *
 * @see https://www.w3.org/TR/trace-context/
 */
export function readTraceparent(traceparent: string, tracestate?: string): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(traceparent) ?? [];
  const spanContext: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  // Version ff is none.
  if (!isSpanContextValid(spanContext) || traceparent.startsWith("ff")) return undefined;
  return tracestate === undefined ? spanContext : { ...spanContext, traceState: createTraceState(tracestate) };
}

export function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}
