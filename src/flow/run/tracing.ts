import { RpcError, VolleyError } from "../../protocol/index.ts";
import type { TracedRound, TraceEvent } from "../api/types.ts";
import type { Flow } from "./flow.ts";
import type { Run } from "./run.ts";

/** Runs the handler, wherever a trace wants it to run. */
export type Enter = <T>(call: () => T) => T;

const straight: Enter = (call) => call();

type Unbound<Event> = Event extends { readonly within: TracedRound } ? Omit<Event, "within"> : never;

/** Tells of something within a round, where somebody traces rounds. */
export function tell(flow: Flow, event: Unbound<TraceEvent>): void {
  if (flow.traced !== undefined) flow.services.trace?.({ ...event, within: flow.traced });
}

interface Ended {
  readonly type: string;
  readonly error?: unknown;
}

/** Plays a round; where rounds are traced, tells when it began, how it ended, and what it took. */
export function traceRound<T extends Ended>(flow: Flow, run: Run, play: (enter: Enter) => Promise<T>): Promise<T> {
  return flow.services.traceRounds ? traced(flow, run, play) : play(straight);
}

async function traced<T extends Ended>(flow: Flow, run: Run, play: (enter: Enter) => Promise<T>): Promise<T> {
  begin(flow, run);
  try {
    const reply = await play(flow.traced?.enter ?? straight);
    end(flow, run, reply.type, reply.error);
    return reply;
  } catch (error) {
    end(flow, run, "threw", error);
    throw error;
  }
}

function begin(flow: Flow, { request, definition, carrier }: Run): void {
  const { trace } = flow.services;
  if (trace === undefined) return;
  flow.traced = {
    method: request.method,
    kind: definition.kind,
    name: definition.name,
    round: flow.round,
    task: carrier !== undefined,
    parent: request.traceContext,
    origin: flow.origin,
  };
  trace({ type: "round_started", within: flow.traced });
  flow.origin = flow.traced.origin;
}

function end(flow: Flow, run: Run, outcome: string, error: unknown): void {
  flow.services.trace?.({
    type: "round",
    within: flow.traced,
    target: flow.definition.name,
    flow: flow.knownId,
    round: flow.round,
    outcome,
    error: error === undefined ? undefined : kindOf(error),
    durationMs: flow.services.clock.now() - flow.startedAt,
    replayed: run.replayed,
    recorded: run.recordedCount,
    asked: run.asks.length,
  });
}

/** What kind of error it was: never its message, which may hold anything. */
function kindOf(error: unknown): string {
  if (VolleyError.is(error)) return error.code;
  if (RpcError.is(error)) return String(error.code);
  return error instanceof Error ? error.name : typeof error;
}
