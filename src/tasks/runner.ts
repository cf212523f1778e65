import type { RoundRequest } from "../flow/index.ts";
import type { Core, TaskEnding } from "../server/index.ts";
import { arrived } from "./data.ts";
import type { Edited, FoundTask, TaskRecords } from "./records.ts";
import { isTooLarge } from "./sealed.ts";
import { cancelledBy, endedData, statusOf, TaskSession } from "./session.ts";

/** How soon a task is tried again that could not go on: another worker may know its tool, its ledger may be back. */
const LATER_MS = 5_000;
/** A task whose workers die this often in a row, while it gets no further, is what kills them. */
const MOST_STALLS = 10;
/** From so many on it may be what kills them: a worker runs one such task at a time, so that it takes no other with it. */
const SUSPECT_STALLS = 2;

/** Takes tasks, one run of their handlers after the other, until they end or wait. */
export class TaskRunner {
  readonly #core: Core;
  readonly #records: TaskRecords;
  readonly #leaseMs: number;
  readonly #sessions = new Set<TaskSession>();
  /** The suspect that runs, and those that wait for its end. */
  #suspect: string | undefined;
  readonly #waiting = new Set<string>();

  constructor(core: Core, records: TaskRecords, leaseMs: number) {
    this.#core = core;
    this.#records = records;
    this.#leaseMs = leaseMs;
  }

  /** Never rejects: what fails is tried again when the lease runs out. */
  async run(id: string): Promise<void> {
    try {
      while (await this.#runOnce(id));
    } catch (error) {
      this.#core.settings.trace({ type: "fault", target: "tasks", error });
    } finally {
      if (this.#suspect === id) this.#nextSuspect();
    }
  }

  /** Gives back all tasks whose handlers still run. */
  async handOver(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.handOver()));
  }

  /** One run; true when answers have come meanwhile. */
  async #runOnce(id: string): Promise<boolean> {
    const taken = await this.#take(id);
    if (taken === undefined) return false;
    const { answers, wires } = arrived(taken.data);
    const session = new TaskSession(this.#records, taken, wires, this.#leaseMs);
    this.#sessions.add(session);
    try {
      const playing = this.#play(taken, answers, session);
      const ending = await Promise.race([playing, session.over]);
      if (ending === undefined || session.isOver) {
        playing.catch(() => undefined);
        return false;
      }
      return await this.#finish(ending, session);
    } finally {
      this.#sessions.delete(session);
    }
  }

  /** Leases the task, if it is anybody's to take. */
  async #take(id: string): Promise<FoundTask | undefined> {
    let wakeAt: number | undefined;
    const waited = this.#waiting.delete(id);
    const taken = await this.#records.change(id, ({ record, data }) => {
      const now = this.#records.clock.now();
      if (record.expiresAt <= now) return { head: { leaseUntil: null, wakeAt: null } };
      const stalled = record.leaseUntil !== null;
      if (record.leaseUntil !== null && record.leaseUntil > now) return undefined;
      if (!stalled && (record.wakeAt === null || (record.wakeAt > now && !waited))) {
        wakeAt = record.wakeAt ?? undefined;
        return undefined;
      }
      if (record.cancelRequested) {
        return cancelledBy(data);
      }
      const stalls = stalled ? data.stalls + 1 : data.stalls;
      if (stalls > MOST_STALLS) {
        this.#giveUp(data.target);
        return failedBy({ code: -32603, message: "Internal error" }, data);
      }
      if (stalls >= SUSPECT_STALLS) {
        if ((this.#suspect ?? id) !== id) {
          this.#waiting.add(id);
          return { head: { leaseUntil: null, wakeAt: now + LATER_MS }, data: { ...data, stalls } };
        }
        this.#suspect = id;
      }
      return {
        head: { epoch: record.epoch + 1, leaseUntil: now + this.#leaseMs, wakeAt: null },
        data: stalls === data.stalls ? data : { ...data, stalls },
      };
    });
    if (wakeAt !== undefined) await this.#records.engine.waker.wake(id, wakeAt);
    return taken === undefined || taken.record.leaseUntil === null ? undefined : taken;
  }

  #nextSuspect(): void {
    this.#suspect = undefined;
    const [next] = this.#waiting;
    if (next !== undefined) this.#records.engine.waker.wake(next).catch(() => undefined); // Sweeps find it too.
  }

  #giveUp(target: string): void {
    const message = `A task was given up: ${MOST_STALLS + 1} workers in a row died while they ran it.`;
    this.#core.settings.trace({ type: "warning", target, message });
  }

  #play({ record, data }: FoundTask, answers: Record<string, unknown>, session: TaskSession): Promise<TaskEnding> {
    const request: RoundRequest & { readonly allArguments: unknown } = {
      method: "tools/call",
      target: data.target,
      arguments: data.arguments,
      allArguments: data.arguments,
      requestState: undefined,
      inputResponses: undefined,
      principal: data.principal,
      client: data.client,
      // Progress becomes the status message, which every client of a task can see.
      progressToken: record.id,
      logLevel: undefined,
      exchange: session,
    };
    const state = { body: data.body, asks: [...data.asks.values()] };
    return this.#core.playTask({ request, state, answers, deadline: record.keepUntil, keeper: session });
  }

  async #finish(ending: TaskEnding, session: TaskSession): Promise<boolean> {
    try {
      return await this.#write(ending, session);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      this.#core.settings.trace({ type: "fault", target: "tasks", error });
      await session.end(({ data }) => failedBy({ code: -32603, message: "Internal error" }, data));
      return false;
    }
  }

  async #write(ending: TaskEnding, session: TaskSession): Promise<boolean> {
    let again = false;
    let wakeAt: number | null = null;
    const done = await session.end(({ record, data }): Edited => {
      again = false;
      wakeAt = null;
      // What had ended before the cancellation could take effect has ended so. It may have come while this is written.
      if (
        (session.cancelled || record.cancelRequested) &&
        !(ending.type === "result" && ending.result.isError !== true)
      ) {
        return cancelledBy(data);
      }
      switch (ending.type) {
        case "result":
          return {
            head: { status: "completed", leaseUntil: null, wakeAt: null },
            data: endedData(data, { result: ending.result }),
          };
        case "error": {
          const { code, message, data: detail } = ending.error;
          return failedBy({ code, message, ...(detail === undefined ? {} : { data: detail }) }, data);
        }
        case "later":
          wakeAt = this.#records.clock.now() + LATER_MS;
          return { head: { leaseUntil: null, wakeAt }, data: { ...data, stalls: 0 } };
        case "suspended": {
          const next = { ...session.withState(data, ending.state), stalls: 0 };
          again = arrived(next).wires.length > 0;
          wakeAt = again ? this.#records.clock.now() : (ending.wakeAt ?? null);
          return { head: { status: statusOf(next), leaseUntil: null, wakeAt }, data: next };
        }
      }
    });
    if (!done) return false;
    if (wakeAt !== null && !again) await this.#records.engine.waker.wake(session.id, wakeAt);
    return again;
  }
}

function failedBy(error: { code: number; message: string; data?: unknown }, data: FoundTask["data"]): Edited {
  return {
    head: { status: "failed", leaseUntil: null, wakeAt: null },
    data: endedData(data, { error, statusMessage: error.message }),
  };
}
