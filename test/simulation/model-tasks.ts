// A store of tasks as test/tasks/contract.ts holds the real ones to it: each call is one moment of the store.
import { dueAt, isTerminal, type SealedWrite, type TaskHead, type TaskRecord } from "../../src/tasks/index.ts";

export class ModelTasks {
  readonly records = new Map<string, TaskRecord>();

  create(record: TaskRecord, most: number = Number.POSITIVE_INFINITY): TaskRecord | undefined {
    const known = this.records.get(record.id);
    if (known !== undefined) return known;
    const isLive = ({ owner, status, expiresAt }: TaskRecord): boolean =>
      owner === record.owner && !isTerminal(status) && expiresAt > record.createdAt;
    if ([...this.records.values()].filter(isLive).length >= most) return undefined;
    this.records.set(record.id, record);
    return record;
  }

  read(id: string): TaskRecord | undefined {
    return this.records.get(id);
  }

  update(id: string, version: number, head: TaskHead, sealed?: SealedWrite): boolean {
    const before = this.records.get(id);
    if (before === undefined || before.version !== version || isTerminal(before.status)) return false;
    this.write(before, head, sealed);
    return true;
  }

  protected write(before: TaskRecord, head: TaskHead, sealed: SealedWrite | undefined): void {
    const { sealed: whole, appended } = before;
    const parts =
      sealed === undefined
        ? { sealed: whole, appended }
        : "whole" in sealed
          ? { sealed: sealed.whole, appended: [] }
          : { sealed: whole, appended: [...appended, sealed.more] };
    this.records.set(head.id, { ...head, ...parts });
  }

  due(now: number, limit: number): readonly string[] {
    return [...this.records.values()]
      .map((record) => ({ id: record.id, at: dueAt(record) }))
      .filter((each): each is { id: string; at: number } => each.at !== null && each.at <= now)
      .sort((one, other) => one.at - other.at)
      .slice(0, limit)
      .map(({ id }) => id);
  }

  sweep(now: number): void {
    for (const [id, { keepUntil }] of this.records) if (keepUntil <= now) this.records.delete(id);
  }
}
