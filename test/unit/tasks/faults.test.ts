import { expect, test } from "vitest";
import type { TraceEvent } from "../../../src/index.ts";
import { createFaults, traceFaults } from "../../../src/tasks/faults.ts";
import type { TaskEngine } from "../../../src/tasks.ts";

const refused = (port: number): Error =>
  Object.assign(new Error(`connect ECONNREFUSED 127.0.0.1:${port}`), { code: "ECONNREFUSED" });

test("the same fault is told once in ten seconds, another at once", () => {
  let now = 0;
  const faults = createFaults(() => now);
  const told: unknown[] = [];
  const stop = faults.listen((error) => told.push((error as Error).message));
  faults.tell(refused(1));
  faults.tell(refused(2));
  faults.tell(new Error("could not renew lock for job 7"));
  expect(told).toEqual(["connect ECONNREFUSED 127.0.0.1:1", "could not renew lock for job 7"]);
  now = 10_000;
  faults.tell(refused(3));
  expect(told).toHaveLength(3);
  stop();
  now = 20_000;
  faults.tell(refused(4));
  expect(told).toHaveLength(3);
});

test("a server and a worker with one trace tell an engine's fault once", () => {
  const faults = createFaults();
  const engine = { onFault: faults.listen } as TaskEngine;
  const events: TraceEvent[] = [];
  const trace = (event: TraceEvent): void => void events.push(event);
  traceFaults(engine, trace);
  traceFaults(engine, trace);
  const error = refused(1);
  faults.tell(error);
  expect(events).toEqual([{ type: "fault", target: "tasks", error }]);
});
