import { checkOptions, needOption, type OptionNames, VolleyError } from "../protocol/index.ts";
import { coreOf, type Server } from "../server/index.ts";
import type { TaskEngine } from "./engine.ts";
import { traceFaults } from "./faults.ts";
import { TaskRecords } from "./records.ts";
import { TaskRunner } from "./runner.ts";

export interface WorkerOptions {
  readonly engine: TaskEngine;
  /** Handlers that run at the same time. Default 10. */
  readonly concurrency?: number;
  /**
   * How long a worker that died keeps others from its tasks, in milliseconds. Default 15,000. The clocks of a fleet must
   * differ by much less.
   */
  readonly leaseMs?: number;
  /** How often it looks for tasks that nobody has taken, in milliseconds. Default 1,000. */
  readonly sweepMs?: number;
}

export interface Worker {
  /** Takes no more tasks, waits up to `graceMs` (default 5,000) for those that run, and gives the others back. */
  close(graceMs?: number): Promise<void>;
}

const DUE_AT_A_TIME = 100;

const OPTIONS: OptionNames<WorkerOptions> = { engine: true, concurrency: true, leaseMs: true, sweepMs: true };

/**
 * Runs the tasks of a server, in its process or in one of its own that registers the same tools under the same keys.
 *
 * A handler's `ctx.signal` fires when its task is cancelled, has expired, or is another worker's.
 *
 * @example
 * ```ts
 * const worker = await createWorker(server, { engine, concurrency: 4 });
 * process.once("SIGTERM", () => void worker.close());
 * ```
 */
export async function createWorker(server: Server, options: WorkerOptions): Promise<Worker> {
  checkOptions("createWorker", options, OPTIONS);
  needOption("createWorker", options, "engine");
  const { engine, concurrency = 10, leaseMs = 15_000, sweepMs = 1_000 } = options;
  for (const [name, value] of Object.entries({ concurrency, leaseMs, sweepMs })) {
    if (Number.isInteger(value) && value > 0) continue;
    throw new VolleyError("invalid_options", `createWorker: ${name} must be a whole number above 0.`);
  }
  const core = coreOf(server);
  core.mayBeMany = true;
  const { clock, keyring, trace } = core.settings;
  traceFaults(engine, trace);
  const runner = new TaskRunner(core, new TaskRecords(engine, keyring, clock), leaseMs);
  const loop = await engine.waker.work((id) => runner.run(id), { concurrency, leaseMs });

  // What was stored but not woken, whose worker died, or whose time has come while nobody had a timer.
  let sweeping: Promise<void> | undefined;
  const sweep = async (): Promise<void> => {
    try {
      const now = clock.now();
      for (const id of await engine.store.due(now, DUE_AT_A_TIME)) await engine.waker.wake(id);
      await engine.store.sweep(now);
    } catch (error) {
      trace({ type: "fault", target: "tasks", error });
    }
  };
  const look = (): void => {
    sweeping ??= sweep().finally(() => {
      sweeping = undefined;
    });
  };
  look();
  const timer = setInterval(look, sweepMs);

  return {
    async close(graceMs = 5_000) {
      clearInterval(timer);
      await sweeping;
      await loop.close(graceMs);
      await runner.handOver();
    },
  };
}
