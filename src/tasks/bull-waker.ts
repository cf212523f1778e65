import type { TaskWaker } from "./engine.ts";

/** What a job says: which task to take. Everything else stands in the task's record. */
export interface TaskJob {
  readonly id: string;
}

/** What is used of BullMQ's `Queue`, whichever store it works on. */
export interface BullQueue {
  add(name: string, data: TaskJob, options: object): Promise<unknown>;
}

/** What is used of BullMQ's `Worker`. */
export interface BullWorker {
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

export interface BullWorkerSettings {
  readonly concurrency: number;
  readonly lockDuration: number;
  readonly stalledInterval: number;
  readonly maxStalledCount: number;
  readonly runRetryDelay: number;
}

/** Opens a worker; `close` is called after the worker's own. */
export type OpenBullWorker = (
  take: (job: { readonly data: TaskJob }) => Promise<void>,
  settings: BullWorkerSettings,
) => { readonly worker: BullWorker; close(): Promise<void> };

/** A queue's name may have no colon. */
export const QUEUE = "tasks";
/** How soon a worker asks again for jobs when its store did not answer; BullMQ's own 15 seconds are a lease. */
const RETRY_MS = 1_000;
/** How long closing waits for a store that does not answer. */
const CLOSE_MS = 5_000;

/**
 * A {@link TaskWaker} by BullMQ 6: one job a task. A job that waits is the wake-up of all who ask; one that is timed is
 * replaced, so that a later call sets another time; while one runs, the last call becomes the next job.
 *
 * A job never moves itself to another time: it ends, and another is added.
 */
export function createBullWaker(queue: BullQueue, open: OpenBullWorker): TaskWaker {
  const wake = async (id: string, at = 0): Promise<void> => {
    await queue.add(
      "take",
      { id },
      {
        delay: Math.max(0, at - Date.now()),
        // No `jobId` beside it: of two jobs with one id, the second is dropped while the first runs.
        deduplication: { id, keepLastIfActive: true, replace: true },
        removeOnComplete: true,
        removeOnFail: true,
      },
    );
  };

  return {
    wake,
    async work(run, { concurrency, leaseMs = 15_000 }) {
      const running = new Set<string>();
      const again = new Set<string>();
      let letGo!: () => void;
      const graceIsOver = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const take = async ({ data: { id } }: { readonly data: TaskJob }): Promise<void> => {
        // A job whose lock ran out while this process was late comes back while the first one's run goes on.
        if (running.has(id)) {
          again.add(id);
          return;
        }
        running.add(id);
        const done = run(id).finally(() => {
          running.delete(id);
          if (again.delete(id)) wake(id).catch(() => undefined); // Sweeps find it too.
        });
        await Promise.race([done, graceIsOver]);
      };
      // The record's lease is what keeps others from a task. A job whose worker died must be free again before that is
      // over, or the sweep that finds the task could not wake it: its lock has to run out and two checks to pass.
      const { worker, close } = open(take, {
        concurrency,
        lockDuration: Math.ceil(leaseMs / 2),
        stalledInterval: Math.ceil(leaseMs / 6),
        // How often a task may stall is the record's to say, not the queue's.
        maxStalledCount: 1_000_000,
        runRetryDelay: RETRY_MS,
      });
      await worker.waitUntilReady();
      return {
        async close(graceMs) {
          // It waits for the jobs that run. When the grace is over they end, whatever their handlers do, so that the
          // tasks are free for others.
          const grace = setTimeout(letGo, graceMs);
          let late: ReturnType<typeof setTimeout> | undefined;
          const tooLate = new Promise<void>((resolve) => {
            late = setTimeout(resolve, graceMs + CLOSE_MS);
          });
          await Promise.race([worker.close(), tooLate]);
          clearTimeout(grace);
          clearTimeout(late);
          await close();
        },
      };
    },
  };
}
