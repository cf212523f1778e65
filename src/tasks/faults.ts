import type { Trace } from "../flow/index.ts";
import type { TaskEngine } from "./engine.ts";

/** A store that is away is tried again and again: the same fault is told so often and no oftener. */
const QUIET_MS = 10_000;
const MOST_KINDS = 100;

/** What goes wrong in an engine's clients outside of any call. */
export interface Faults {
  readonly tell: (error: unknown) => void;
  readonly listen: (listener: (error: unknown) => void) => () => void;
}

export function createFaults(now: () => number = Date.now): Faults {
  const listeners = new Set<(error: unknown) => void>();
  const toldAt = new Map<string, number>();
  return {
    tell(error) {
      const kind = kindOf(error);
      if (now() - (toldAt.get(kind) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
      if (toldAt.size >= MOST_KINDS) toldAt.clear();
      toldAt.set(kind, now());
      for (const listener of listeners) listener(error);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Messages name ports and jobs: the code says what it is, where there is one. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error ? String(error.code) : error.message;
}

const traced = new WeakMap<TaskEngine, WeakSet<Trace>>();

/** Traces an engine's faults, once for a server and a worker that have one trace. */
export function traceFaults(engine: TaskEngine, trace: Trace): void {
  const traces = traced.get(engine) ?? new WeakSet();
  traced.set(engine, traces);
  if (engine.onFault === undefined || traces.has(trace)) return;
  traces.add(trace);
  engine.onFault((error) => trace({ type: "fault", target: "tasks", error }));
}
