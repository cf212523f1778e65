import type { Clock } from "../flow/index.ts";
import { TASKS_EXTENSION } from "../protocol/index.ts";
import type { Keyring, Principal } from "../state/index.ts";
import { outstanding, ownerOf, type TaskData } from "./data.ts";
import { isTerminal, type SealedWrite, type TaskEngine, type TaskHead, type TaskRecord } from "./engine.ts";
import { openTask, type SealedTask, sealChange, sealWhole } from "./sealed.ts";

/** A task, opened. */
export interface FoundTask {
  readonly record: TaskHead;
  readonly data: TaskData;
  readonly sealed: SealedTask;
}

/** What an edit changes; without `data` the sealed part stays as it is. */
export interface Edited {
  readonly head?: Partial<Omit<TaskHead, "id" | "version" | "updatedAt">>;
  readonly data?: TaskData;
}

type Listener = (found: FoundTask) => void;

/** Hears of writes in this process, per engine: what servers and workers of one process tell each other. */
const listeners = new WeakMap<TaskEngine, Set<Listener>>();

/** The tasks of an engine, opened and sealed with a server's keys. */
export class TaskRecords {
  readonly engine: TaskEngine;
  readonly clock: Clock;
  readonly #keyring: Keyring;

  constructor(engine: TaskEngine, keyring: Keyring, clock: Clock) {
    this.engine = engine;
    this.#keyring = keyring;
    this.clock = clock;
  }

  /** Stores a new task, or finds the one of its id; undefined when its owner has `most` live ones. */
  async create(head: Omit<TaskHead, "owner">, data: TaskData, most: number): Promise<FoundTask | undefined> {
    const owner = ownerOf(data.principal);
    const record = { ...head, owner };
    const { whole } = sealWhole(this.#keyring, record, data);
    const stored = await this.engine.store.create({ ...record, sealed: whole, appended: [] }, most);
    return stored && this.#open(stored);
  }

  async read(id: string): Promise<FoundTask | undefined> {
    const record = await this.engine.store.read(id);
    return record && this.#open(record);
  }

  /** The task if somebody has changed it since. */
  async readNewer(id: string, version: number): Promise<FoundTask | undefined> {
    const record = await this.engine.store.read(id);
    return record === undefined || record.version === version ? undefined : this.#open(record);
  }

  /** The task of a caller; another's, an expired and an unknown one look the same. */
  async find(id: string, principal: Principal): Promise<FoundTask | undefined> {
    const record = await this.engine.store.read(id);
    if (record === undefined || record.owner !== ownerOf(principal)) return undefined;
    return record.expiresAt > this.clock.now() ? this.#open(record) : undefined;
  }

  /**
   * Reads, edits and writes until nobody came between; undefined when there is no task or the edit gives up.
   *
   * @param last what the caller has read or written last: not read again unless somebody has changed it since
   */
  async change(
    id: string,
    edit: (found: FoundTask) => Edited | undefined,
    last?: FoundTask,
  ): Promise<FoundTask | undefined> {
    for (let seen = last; ; seen = undefined) {
      const before = seen ?? (await this.read(id));
      if (before === undefined || isTerminal(before.record.status)) return undefined;
      const edited = edit(before);
      if (edited === undefined) return undefined;
      const { after, write } = this.#edited(before, edited);
      if (!(await this.engine.store.update(id, before.record.version, after.record, write))) continue;
      for (const listener of listeners.get(this.engine) ?? []) listener(after);
      return after;
    }
  }

  /** Calls back after each write of this process. */
  listen(listener: Listener): () => void {
    const all = listeners.get(this.engine) ?? new Set();
    listeners.set(this.engine, all.add(listener));
    return () => all.delete(listener);
  }

  #open(record: TaskRecord): FoundTask {
    const { sealed: _whole, appended: _appended, ...head } = record;
    return { record: head, ...openTask(this.#keyring, record) };
  }

  #edited(
    before: FoundTask,
    { head, data = before.data }: Edited,
  ): { readonly after: FoundTask; readonly write: SealedWrite | undefined } {
    const record = { ...before.record, ...head, version: before.record.version + 1 };
    const { write, sealed } =
      data === before.data
        ? { write: undefined, sealed: before.sealed }
        : sealChange(this.#keyring, record, before.sealed, data, isTerminal(record.status));
    const changed = visible(record, data) !== visible(before.record, before.data);
    const updatedAt = changed ? this.clock.now() : record.updatedAt;
    return { after: { record: { ...record, updatedAt }, data, sealed }, write };
  }
}

/** What a client can see of a change. */
function visible(record: TaskHead, data: TaskData): string {
  return JSON.stringify([record.status, data.statusMessage, outstanding(data).map(([wire]) => wire)]);
}

/** Whether a request's client says that it follows tasks. */
export function declaresTasks(capabilities: { readonly extensions?: object }): boolean {
  return capabilities.extensions !== undefined && Object.hasOwn(capabilities.extensions, TASKS_EXTENSION);
}
