import {
  type Attributes,
  context,
  isSpanContextValid,
  type Meter,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as traces,
} from "@opentelemetry/api";
import type { Trace, TracedRound, TraceEvent } from "../flow/index.ts";
import { checkOptions, type OptionNames } from "../protocol/index.ts";
import { createReporter } from "../server/index.ts";
import { createInstruments, type Instruments } from "./instruments.ts";
import { readTraceparent, writeTraceparent } from "./trace-context.ts";

export interface TelemetryOptions {
  /** Default: the global one, by the name `volley-mcp`. */
  readonly tracer?: Tracer;
  /** Default: the global one, by the name `volley-mcp`. */
  readonly meter?: Meter;
  /** Is told everything as well. Default: what a server without a trace prints. */
  readonly next?: Trace;
}

/** How a person ends what was asked of them: nothing that is wrong with the server. */
const ORDINARY: ReadonlySet<string> = new Set(["declined", "cancelled", "no_answer"]);

const OPTIONS: OptionNames<TelemetryOptions> = { tracer: true, meter: true, next: true };

/**
 * Makes the option `trace` of `createServer`: a span for each round, with events for its questions, steps and effects, and
 * metrics of rounds, refused states, effects, questions and limits.
 *
 * A round's span is a child of the span that the client named in `_meta.traceparent`, else of the active one, and linked to
 * the first round of its flow, on whatever instance that was; for the link 55 bytes travel in the sealed state. The handler
 * runs within its span.
 *
 * No arguments, answers, values, messages, URIs, flow ids or callers are recorded, and names of questions and steps only up
 * to their first `:`. Needs the package `@opentelemetry/api`.
 *
 * @example
 * ```ts
 * import { createTelemetry } from "volley-mcp/telemetry";
 * const server = createServer({ name: "shop", version: "1.0.0", singleInstance: true, trace: createTelemetry() });
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#meta
 */
export function createTelemetry(options: TelemetryOptions = {}): Trace {
  checkOptions("createTelemetry", options, OPTIONS);
  const tracer = options.tracer ?? traces.getTracer("volley-mcp");
  const instruments = createInstruments(options.meter ?? metrics.getMeter("volley-mcp"));
  const next = options.next ?? createReporter();
  const spans = new WeakMap<TracedRound, Span>();
  return (event) => {
    if (event.type === "round_started") {
      spans.set(event.within, begin(tracer, event.within));
    } else {
      const within = "within" in event ? event.within : undefined;
      const span = within && spans.get(within);
      if (span) describe(span, event);
      count(instruments, event);
    }
    next(event);
  };
}

function begin(tracer: Tracer, within: TracedRound): Span {
  const remote = within.parent && readTraceparent(within.parent.traceparent, within.parent.tracestate);
  const parent = remote ? traces.setSpanContext(context.active(), remote) : context.active();
  const first = within.origin === undefined ? undefined : readTraceparent(within.origin);
  const span = tracer.startSpan(
    `${within.method} ${within.name}`,
    {
      kind: within.task ? SpanKind.CONSUMER : SpanKind.SERVER,
      attributes: { ...attributesOf(within), "volley.round": within.round },
      links: first ? [{ context: first }] : [],
    },
    parent,
  );
  const own = span.spanContext();
  if (within.origin === undefined && isSpanContextValid(own)) within.origin = writeTraceparent(own);
  const inside = traces.setSpan(parent, span);
  within.enter = (call) => context.with(inside, call);
  return span;
}

/** By the semantic conventions for MCP where they have a name for it. */
function attributesOf({ method, kind, name }: TracedRound): Attributes {
  if (kind === "tool") return { "mcp.method.name": method, "gen_ai.tool.name": name };
  if (kind === "prompt") return { "mcp.method.name": method, "gen_ai.prompt.name": name };
  return { "mcp.method.name": method, "volley.resource.name": name };
}

function describe(span: Span, event: TraceEvent): void {
  switch (event.type) {
    case "step":
      span.addEvent("step", { ...named(event.name), "volley.replayed": event.replayed, "volley.failed": event.failed });
      break;
    case "asked":
      span.addEvent("asked", { ...named(event.key), "volley.tries": event.tries });
      break;
    case "answered":
      span.addEvent("answered", { ...named(event.key), "volley.replayed": event.replayed });
      break;
    case "effect":
      span.addEvent("effect", { ...named(event.name), "volley.outcome": event.outcome });
      break;
    case "shed":
      span.addEvent("shed");
      break;
    case "round":
      span.setAttributes({
        "volley.outcome": event.outcome,
        "volley.replayed": event.replayed,
        "volley.recorded": event.recorded,
        "volley.asked": event.asked,
      });
      if (event.error !== undefined) {
        span.setAttribute("error.type", event.error);
        if (!ORDINARY.has(event.error)) span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
  }
}

function count(instruments: Instruments, event: TraceEvent): void {
  switch (event.type) {
    case "round":
      if (event.within) {
        instruments.rounds.record(event.durationMs / 1000, {
          ...attributesOf(event.within),
          "volley.outcome": event.outcome,
          ...(event.error === undefined ? {} : { "error.type": event.error }),
        });
      }
      break;
    case "state_refused":
      instruments.refused.add(1, { "mcp.method.name": event.method, "volley.reason": event.reason });
      break;
    case "effect":
      if (event.outcome !== "replayed") instruments.effects.add(1, { "volley.outcome": event.outcome });
      break;
    case "asked":
      instruments.asks.add(1, { ...attributesOf(event.within), "volley.again": event.tries > 0 });
      break;
    case "shed":
      instruments.shed.add(1);
      break;
    case "limited":
      instruments.limited.add(1, { "volley.limit": event.limit });
      break;
    case "fault":
      instruments.faults.add(1);
  }
}

/** What follows a colon tells runs of a loop apart, and may be anybody's id. */
function named(name: string): Attributes {
  return { "volley.name": name.split(":", 1)[0] ?? "" };
}
