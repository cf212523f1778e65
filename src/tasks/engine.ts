import type { TaskStatus } from "../protocol/index.ts";

/** What stands in the clear of a task. Times are milliseconds since the epoch, by the clocks of servers and workers. */
export interface TaskHead {
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
}

/** A task as a store keeps it. Whatever came from people or handlers is sealed. */
export interface TaskRecord extends TaskHead {
  readonly sealed: Uint8Array;
  /** What was appended since `sealed` was written, in that order. */
  readonly appended: readonly Uint8Array[];
}

/** What a write makes of the sealed part: another one, to which nothing is appended yet, or one piece more. */
export type SealedWrite = { readonly whole: Uint8Array } | { readonly more: Uint8Array };

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
  /**
   * Replaces the head of the task if it has this version and has not ended, and with it, as one write, the sealed part;
   * without `sealed` that stays as it is. Says whether it did.
   */
  update(id: string, version: number, head: TaskHead, sealed?: SealedWrite): Promise<boolean>;
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
export function dueAt(head: TaskHead): number | null {
  if (isTerminal(head.status)) return null;
  return head.leaseUntil ?? head.wakeAt;
}
