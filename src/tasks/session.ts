import type { Exchange, TaskKeeper, TaskState } from "../flow/index.ts";
import { VolleyError } from "../protocol/index.ts";
import { arrived, outstanding, type TaskData, withState } from "./data.ts";
import { isTerminal, type TaskHead } from "./engine.ts";
import type { Edited, FoundTask, TaskRecords } from "./records.ts";
import { isTooLarge } from "./sealed.ts";

/** How long a handler may take to end itself once its task is cancelled. */
const CANCEL_GRACE_MS = 5_000;
/** Messages of progress are written no more often than this. */
const MESSAGE_MS = 200;
/** A run that asks mostly ends at once, and writes the question with its end: one write and not two. */
const PUBLISH_MS = 10;
/** How soon an answer that another process has taken is seen, while steps go on. */
const LOOK_MS = 750;

/** One worker's hold on one task, from taking it to letting it go. */
export class TaskSession implements TaskKeeper, Exchange {
  readonly id: string;
  readonly records: TaskRecords;
  readonly leaseMs: number;
  /** Resolves when the task is not this worker's any more, whatever its handler does. */
  readonly over: Promise<void>;
  /** The client has cancelled the task. */
  cancelled = false;
  /** Its handler's outcome does not count any more. */
  isOver = false;

  readonly #epoch: number;
  /** The client's keys of answers that the run began with, and of those that came since, with their questions' identities. */
  readonly #used: ReadonlySet<string>;
  readonly #came = new Map<string, string>();
  #onAnswers: ((answers: Readonly<Record<string, unknown>>) => void) | undefined;
  readonly #aborts: ((reason: Error) => void)[] = [];
  readonly #stops: (() => void)[] = [];
  #resolveOver!: () => void;
  #reason: Error | undefined;
  /** The task as this worker wrote it last. */
  #last: FoundTask;
  #state: TaskState | undefined;
  /** Something was recorded: the task gets on, whatever becomes of its workers. */
  #progress = false;
  #message: string | undefined;
  #timer: { readonly at: number; readonly timeout: ReturnType<typeof setTimeout> } | undefined;
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** @param used the client's keys of the answers that this run begins with */
  constructor(records: TaskRecords, taken: FoundTask, used: readonly string[], leaseMs: number) {
    const { record } = taken;
    this.#last = taken;
    this.id = record.id;
    this.records = records;
    this.leaseMs = leaseMs;
    this.#epoch = record.epoch;
    this.#used = new Set(used);
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
    const beat = setInterval(() => this.#write().catch(() => undefined), leaseMs / 3);
    const look = setInterval(() => this.#look().catch(() => undefined), LOOK_MS);
    const expiry = setTimeout(
      () => this.#lose("The task has expired."),
      Math.min(untilExpiry(records, record), 2 ** 31 - 1),
    );
    this.#stops.push(
      () => clearInterval(beat),
      () => clearInterval(look),
      () => clearTimeout(expiry),
      // Its own writes are among them.
      records.listen((changed) => {
        if (changed.record.id === this.id) this.#see(changed);
      }),
    );
  }

  async save(state: TaskState): Promise<void> {
    this.#state = state;
    this.#progress = true;
    await this.#mustWrite();
  }

  onAnswers(listener: (answers: Readonly<Record<string, unknown>>) => void): void {
    this.#onAnswers = listener;
  }

  hold(): Promise<void> | undefined {
    const { leaseUntil } = this.#last.record;
    const surely = !this.isOver && leaseUntil !== null && this.records.clock.now() < leaseUntil;
    return surely ? undefined : this.#mustWrite();
  }

  publish(state: TaskState): void {
    this.#state = state;
    this.#writeWithin(PUBLISH_MS);
  }

  /** In a task, progress is what its status says. */
  notify(method: string, params: Record<string, unknown>): void {
    if (method !== "notifications/progress") return;
    const { progress, total, message } = params;
    this.#message = String(message ?? (total === undefined ? progress : `${String(progress)} of ${String(total)}`));
    this.#writeWithin(MESSAGE_MS);
  }

  onAbort(listener: (reason: Error) => void): void {
    if (this.#reason) listener(this.#reason);
    else this.#aborts.push(listener);
  }

  /** Writes how the run ended and lets the task go; false when it was not this worker's any more. */
  async end(edit: (found: FoundTask) => Edited): Promise<boolean> {
    this.#stop();
    await this.#writing.catch(() => undefined);
    if (this.isOver) return false;
    const written = await this.records.change(
      this.id,
      (found) => (this.#holds(found.record) ? edit({ ...found, data: this.#withMine(found.data) }) : undefined),
      this.#last,
    );
    this.#finish();
    return written !== undefined;
  }

  /** Gives the task back while its handler still runs: another worker goes on from what is saved. */
  async handOver(): Promise<void> {
    this.#stop();
    this.isOver = true;
    const now = this.records.clock.now();
    const back = { epoch: this.#epoch + 1, leaseUntil: null, wakeAt: now };
    const given = await this.records.change(this.id, ({ record }) =>
      this.#holds(record) ? { head: back } : undefined,
    );
    this.#lose("The worker is closing.");
    if (given !== undefined) await this.records.engine.waker.wake(this.id).catch(() => undefined); // Sweeps find it too.
  }

  /** Writes what has changed by then, unless another write takes it along. */
  #writeWithin(ms: number): void {
    const at = performance.now() + ms;
    if (this.isOver || (this.#timer !== undefined && this.#timer.at <= at)) return;
    clearTimeout(this.#timer?.timeout);
    this.#timer = { at, timeout: setTimeout(() => this.#write().catch(() => undefined), ms) };
  }

  async #mustWrite(): Promise<void> {
    try {
      await this.#write();
    } catch (error) {
      if (isTooLarge(error)) throw error; // No other worker could go on with it either.
      // What a store did not take must not count: the lease runs out, and the task is run again from what it has.
      this.#lose("The task could not be saved.");
      throw error;
    }
  }

  /** One write at a time; those who ask meanwhile share the next, which holds all that came by then. */
  #write(): Promise<void> {
    if (this.isOver) return Promise.reject(lost());
    if (this.#next === undefined) {
      const next = this.#writing
        .catch(() => undefined)
        .then(() => {
          this.#next = undefined;
          return this.#writeNow();
        });
      this.#next = next;
      this.#writing = next;
    }
    return this.#next;
  }

  async #writeNow(): Promise<void> {
    if (this.isOver) throw lost();
    this.#clearTimer();
    const renew = (found: FoundTask): Edited | undefined => {
      if (!this.#holds(found.record)) return undefined;
      const data = this.#withMine(found.data);
      return { head: { leaseUntil: this.records.clock.now() + this.leaseMs, status: statusOf(data) }, data };
    };
    const written = await this.records.change(this.id, renew, this.#last);
    if (written === undefined) {
      this.#lose("The task is another worker's, or has ended.");
      throw lost();
    }
    this.#last = written;
  }

  /** Only while a question waits: nothing else that others write brings a run on. */
  async #look(): Promise<void> {
    const { record, data } = this.#last;
    if (this.#onAnswers === undefined || outstanding(data).length === 0) return;
    const newer = await this.records.readNewer(this.id, record.version);
    if (newer !== undefined) this.#see(newer);
  }

  #see({ record, data }: FoundTask): void {
    if (this.isOver || !this.#holds(record)) return;
    if (record.cancelRequested) this.#cancel();
    if (this.#onAnswers === undefined) return;
    const { answers, wires } = arrived(data, { has: (wire) => this.#used.has(wire) || this.#came.has(wire) });
    if (wires.length === 0) return;
    for (const wire of wires) this.#came.set(wire, data.asks.get(wire)?.identity ?? "");
    this.#onAnswers(answers);
  }

  /** The task with a state of this run. What came is in its journal once its question is not asked any more. */
  withState(data: TaskData, state: TaskState): TaskData {
    const asked = new Set(state.asks.map(({ identity }) => identity));
    const taken = [...this.#came].flatMap(([wire, identity]) => (asked.has(identity) ? [] : [wire]));
    return withState(data, state, [...this.#used, ...taken]);
  }

  #withMine(data: TaskData): TaskData {
    const { stalls, statusMessage } = data;
    return {
      ...(this.#state === undefined ? data : this.withState(data, this.#state)),
      stalls: this.#progress ? 0 : stalls,
      statusMessage: this.#message ?? statusMessage,
    };
  }

  #holds(record: TaskHead): boolean {
    return record.epoch === this.#epoch && record.leaseUntil !== null && !isTerminal(record.status);
  }

  #cancel(): void {
    if (this.cancelled || this.isOver) return;
    this.cancelled = true;
    this.#abort("The task was cancelled.");
    const timer = setTimeout(() => {
      this.end(({ data }) => cancelledBy(data)).catch(() => this.#lose("The task was cancelled."));
    }, CANCEL_GRACE_MS);
    this.#stops.push(() => clearTimeout(timer));
  }

  #lose(why: string): void {
    this.isOver = true;
    this.#stop();
    this.#abort(why);
    this.#finish();
  }

  #finish(): void {
    this.isOver = true;
    this.#resolveOver();
  }

  #abort(why: string): void {
    if (this.#reason) return;
    this.#reason = new VolleyError("aborted", why);
    for (const listener of this.#aborts.splice(0)) listener(this.#reason);
  }

  #clearTimer(): void {
    clearTimeout(this.#timer?.timeout);
    this.#timer = undefined;
  }

  #stop(): void {
    this.#clearTimer();
    for (const stop of this.#stops.splice(0)) stop();
  }
}

/** What is kept of a task that has ended: its progress is over, and its journal nobody's any more. */
export function endedData(
  data: TaskData,
  outcome: Pick<Partial<TaskData>, "result" | "error" | "statusMessage">,
): TaskData {
  const none = { body: null, asks: new Map(), keys: new Map(), answers: new Map(), arguments: null };
  return { ...data, ...none, statusMessage: undefined, ...outcome };
}

/** A task as its client has cancelled it. */
export function cancelledBy(data: TaskData): Edited {
  return {
    head: { status: "cancelled", leaseUntil: null, wakeAt: null },
    data: endedData(data, { statusMessage: "The task was cancelled." }),
  };
}

/** Asked is asked, also while steps go on. */
export function statusOf(data: TaskData): "working" | "input_required" {
  return outstanding(data).length > 0 ? "input_required" : "working";
}

function untilExpiry(records: TaskRecords, record: TaskHead): number {
  return Math.max(0, record.expiresAt - records.clock.now());
}

function lost(): VolleyError {
  return new VolleyError("aborted", "The task is not this worker's any more.");
}
