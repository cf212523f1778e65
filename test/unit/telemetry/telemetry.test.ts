import { context, type Meter, type Span, trace as traces } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { TraceEvent } from "../../../src/index.ts";
import type { Server } from "../../../src/server/index.ts";
import { createTelemetry } from "../../../src/telemetry.ts";
import { ask, create, ELICITATION } from "../server/harness.ts";

const spans = new InMemorySpanExporter();
const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).getTracer("test");
beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
afterAll(() => context.disable());

let told: TraceEvent[];
let active: (Span | undefined)[];
let server: Server;
let meter: Meter;
let metricsNow: () => Promise<Record<string, unknown[]>>;
beforeEach(() => {
  spans.reset();
  told = [];
  active = [];
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  meter = new MeterProvider({ readers: [reader] }).getMeter("test");
  metricsNow = async () => {
    await reader.forceFlush();
    const all =
      exporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
    return Object.fromEntries(
      all.map(({ descriptor, dataPoints }) => [
        descriptor.name,
        dataPoints.map(({ attributes, value }) => [
          attributes,
          typeof value === "number" ? value : (value as { count: number }).count,
        ]),
      ]),
    );
  };
  server = create({ trace: createTelemetry({ tracer, meter, next: (event) => told.push(event) }) });
  server.tool("order", { input: z.object({ item: z.string() }) }, async ({ item }, ctx) => {
    await ctx.step(`look:${item}`, async () => active.push(traces.getActiveSpan()));
    const { size } = await ctx.elicit(`size:${item}`, {
      message: `Size of ${item}?`,
      schema: z.object({ size: z.string().max(20) }),
    });
    return await ctx.once("charge", () => `secret value ${size}`);
  });
});

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const order = (more: object = {}, meta: object = {}): Promise<{ result: { requestState: string }; error?: unknown }> =>
  ask(
    server,
    "tools/call",
    { name: "order", arguments: { item: "ada@example.com" }, ...more },
    {
      ...ELICITATION,
      ...meta,
    },
  );
const answer = (requestState: string): object => ({
  requestState,
  inputResponses: { "size:ada@example.com": { action: "accept", content: { size: "of Ada" } } },
});
/** An event's name and attributes. */
const events = (span: ReadableSpan | undefined): unknown[] =>
  span?.events.map(({ name, attributes }) => [name, attributes]) ?? [];

describe("OpenTelemetry", () => {
  test("a span a round, in the client's trace, each linked to the flow's first, with what was replayed", async () => {
    const first = await order({}, { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, tracestate: "vendor=1" });
    const second = await order({ requestState: first.result.requestState });
    await order(answer(second.result.requestState), { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` });
    const [one, two, three] = spans.getFinishedSpans();
    expect([one, two, three].map((span) => span?.name)).toEqual(Array(3).fill("tools/call order"));
    expect(one?.spanContext().traceId).toBe(TRACE);
    expect(one?.parentSpanContext).toMatchObject({ spanId: "b7ad6b7169203331", isRemote: true });
    expect(one?.spanContext().traceState?.get("vendor")).toBe("1");
    expect(one?.links).toEqual([]);
    expect(two?.parentSpanContext).toBeUndefined();
    expect(two?.spanContext().traceId).not.toBe(TRACE);
    expect(three?.parentSpanContext?.spanId).toBe("00f067aa0ba902b7");
    for (const later of [two, three]) {
      expect(later?.links.map((link) => link.context)).toMatchObject([
        { traceId: TRACE, spanId: one?.spanContext().spanId },
      ]);
    }
    const round = { "mcp.method.name": "tools/call", "gen_ai.tool.name": "order" };
    expect([one, two, three].map((span) => span?.attributes)).toEqual([
      { ...round, ...counts(1, "input_required", 0, 1, 1) },
      { ...round, ...counts(2, "input_required", 1, 0, 1) },
      { ...round, ...counts(3, "complete", 2, 1, 0) },
    ]);
    expect(events(one)).toEqual([
      ["step", { "volley.name": "look", "volley.replayed": false, "volley.failed": false }],
      ["asked", { "volley.name": "size", "volley.tries": 0 }],
    ]);
    expect(events(two)).toEqual([
      ["step", { "volley.name": "look", "volley.replayed": true, "volley.failed": false }],
      ["asked", { "volley.name": "size", "volley.tries": 1 }],
    ]);
    expect(events(three)).toEqual([
      ["step", { "volley.name": "look", "volley.replayed": true, "volley.failed": false }],
      ["answered", { "volley.name": "size", "volley.replayed": false }],
      ["effect", { "volley.name": "charge", "volley.outcome": "claimed" }],
      ["effect", { "volley.name": "charge", "volley.outcome": "done" }],
    ]);
  });

  test("the handler runs within its span", async () => {
    await order();
    expect(active.map((span) => span?.spanContext().spanId)).toEqual([
      spans.getFinishedSpans()[0]?.spanContext().spanId,
    ]);
    expect(traces.getActiveSpan()).toBeUndefined();
  });

  test("refused states by reason, effects by outcome, questions asked again, rounds", async () => {
    const first = await order();
    const second = await order({ requestState: first.result.requestState });
    await order(answer(second.result.requestState));
    await order(answer(second.result.requestState));
    expect((await order({ requestState: `${first.result.requestState}A` })).error).toBeDefined();
    expect((await order({ requestState: "nonsense" })).error).toBeDefined();
    const tool = { "mcp.method.name": "tools/call", "gen_ai.tool.name": "order" };
    const now = await metricsNow();
    expect(now).toMatchObject({
      "volley.round.duration": [
        [{ ...tool, "volley.outcome": "input_required" }, 2],
        [{ ...tool, "volley.outcome": "complete" }, 2],
      ],
      "volley.asks": [
        [{ ...tool, "volley.again": false }, 1],
        [{ ...tool, "volley.again": true }, 1],
      ],
      "volley.effects": [
        [{ "volley.outcome": "claimed" }, 1],
        [{ "volley.outcome": "done" }, 1],
        [{ "volley.outcome": "settled" }, 1],
      ],
    });
    const refused = now["volley.states.refused"] as [Record<string, unknown>, number][];
    expect(refused.map(([attributes]) => attributes["mcp.method.name"])).toEqual(refused.map(() => "tools/call"));
    expect(refused.reduce((sum, [, count]) => sum + count, 0)).toBe(2);
    expect(refused.map(([attributes]) => attributes["volley.reason"])).toContain("format");
  });

  test("S23: what was refused by a limit", async () => {
    const telemetry = createTelemetry({ tracer, meter, next: (event) => told.push(event) });
    server = create({ trace: telemetry, limits: { anonymousCallsPerMinute: 1 } });
    server.tool("hello", {}, () => "Hello.");
    for (let call = 0; call < 3; call++) await ask(server, "tools/call", { name: "hello" });
    expect((await metricsNow())["volley.limited"]).toEqual([[{ "volley.limit": "anonymousCallsPerMinute" }, 2]]);
    expect(told.filter(({ type }) => type === "limited")).toHaveLength(2);
  });

  test("an error has its kind alone; a person who declines is none", async () => {
    server.tool("fails", {}, () => {
      throw new TypeError("for Ada");
    });
    await ask(server, "tools/call", { name: "fails" });
    const first = await order();
    await order({
      requestState: first.result.requestState,
      inputResponses: { "size:ada@example.com": { action: "decline" } },
    });
    const [failed, , declined] = spans.getFinishedSpans();
    expect([failed?.attributes["error.type"], failed?.status]).toEqual(["TypeError", { code: 2 }]);
    expect([declined?.attributes["error.type"], declined?.status]).toEqual(["declined", { code: 0 }]);
    expect((await metricsNow())["volley.faults"]).toEqual([[{}, 1]]);
    expect(told.filter(({ type }) => type === "fault")).toHaveLength(1);
  });

  test("nothing personal: no arguments, answers, values, URIs, errors' texts or callers", async () => {
    server.resourceTemplate("mail", "mail://{address}", {}, () => "secret value");
    server.resource("fails", "mail://ada", {}, () => {
      throw new Error("of Ada");
    });
    const first = await order();
    await order(answer(first.result.requestState));
    await ask(server, "resources/read", { uri: "mail://ada@example.com" });
    await ask(server, "resources/read", { uri: "mail://ada" });
    const said = JSON.stringify([
      spans.getFinishedSpans().map(({ name, attributes, status, events: of }) => [name, attributes, status, of]),
      await metricsNow(),
    ]);
    expect(said).toContain("resources/read mail");
    expect(said).not.toMatch(/ada|secret|mail:/i);
    expect(said).not.toContain("example.com");
  });

  test.each([
    "",
    "00-0-0-01",
    `ff-${TRACE}-b7ad6b7169203331-01`,
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    7,
    "a".repeat(999),
  ])("a traceparent that is none begins a trace of its own: %s", async (traceparent) => {
    await order({}, { traceparent });
    expect(spans.getFinishedSpans().map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined]);
  });

  test("without an SDK it does nothing but pass events on", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue(undefined);
    const quiet = create({ trace: createTelemetry(), random: (bytes) => new Uint8Array(bytes).fill(0xa1) });
    quiet.tool("fails", {}, () => {
      throw new Error("why");
    });
    await ask(quiet, "tools/call", { name: "fails" });
    expect(error).toHaveBeenCalledExactlyOnceWith(
      "[volley] fault in fails (reference a1a1a1a1):",
      expect.objectContaining({ message: "why" }),
    );
    error.mockRestore();
  });
});

function counts(round: number, outcome: string, replayed: number, recorded: number, asked: number): object {
  return {
    "volley.round": round,
    "volley.outcome": outcome,
    "volley.replayed": replayed,
    "volley.recorded": recorded,
    "volley.asked": asked,
  };
}
