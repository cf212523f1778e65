import type { TaskStatus } from "../protocol/index.ts";

/**
 * A task as a store keeps it. Ids, status and times are in the clear; whatever came from people or handlers is sealed.
 * Times are milliseconds since the epoch, by the clocks of servers and workers.
 */
export interface TaskRecord {
  readonly id: string;
  /** From 1, one more with each write. */
  readonly version: number;
  readonly status: TaskStatus;
  /** A digest of the principal whose task it is. */
  readonly owner: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** From here on it is not shown and not run. */
  readonly expiresAt: number;
  /** From here on it may be removed. */
  readonly keepUntil: number;
  /** One more each time somebody takes the task; writes of an earlier one are refused by whoever writes. */
  readonly epoch: number;
  /** Until when a worker has it; null: nobody has. */
  readonly leaseUntil: number | null;
  /** When a worker should take it; null: only answers can bring it on. */
  readonly wakeAt: number | null;
  readonly cancelRequested: boolean;
  readonly sealed: Uint8Array;
}

/** Keeps tasks. A write that was answered must survive a crash of the process that asked for it. */
export interface TaskStore {
  /**
   * Stores the task unless there is one of its id, and resolves with what is stored.
   *
   * @param most resolves with undefined when the task is new and its owner has so many live ones: neither ended nor, by
   *   this one's `createdAt`, expired. Those that are stored at the same moment may come on top. Default: no limit
   */
  create(record: TaskRecord, most?: number): Promise<TaskRecord | undefined>;
  read(id: string): Promise<TaskRecord | undefined>;
  /** Replaces the task if it has this version and has not ended; says whether it did. */
  update(id: string, version: number, record: TaskRecord): Promise<boolean>;
  /** Ids of tasks that have not ended and that a worker should have taken by now ({@link dueAt}), the oldest first. */
  due(now: number, limit: number): Promise<readonly string[]>;
  /** Removes tasks whose `keepUntil` has passed. */
  sweep(now: number): Promise<void>;
}

/** Brings tasks to workers. It may wake a task twice or not at all: leases and sweeps make up for both. */
export interface TaskWaker {
  /** Has some worker take the task, now or at a time in milliseconds since the epoch. */
  wake(id: string, at?: number): Promise<void>;
  /** Takes woken tasks, each at most once at a time in this process. */
  work(run: (id: string) => Promise<void>, options: WakerOptions): Promise<WakerLoop>;
}

export interface WakerOptions {
  readonly concurrency: number;
  /** How long a process that died may keep its tasks from others, in milliseconds. */
  readonly leaseMs?: number;
}

export interface WakerLoop {
  /** Takes no more tasks, and waits up to `graceMs` for those that run. */
  close(graceMs: number): Promise<void>;
}

/** Where tasks are kept and what wakes them. */
export interface TaskEngine {
  readonly store: TaskStore;
  readonly waker: TaskWaker;
  /**
   * Calls back with what goes wrong outside of any call, such as a connection that breaks; the returned function ends
   * that. Servers and workers trace it as a fault.
   */
  onFault?(listener: (error: unknown) => void): () => void;
  close(): Promise<void>;
}

export function isTerminal(status: TaskStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** When a worker should take the task: when its lease runs out while somebody has it, else at `wakeAt`; null is never. */
export function dueAt(record: TaskRecord): number | null {
  if (isTerminal(record.status)) return null;
  return record.leaseUntil ?? record.wakeAt;
}
