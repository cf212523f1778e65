// What every engine of tasks must do. Each engine's own test file runs it with a way to make one.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { SealedWrite, TaskEngine, TaskHead, TaskRecord } from "../../src/tasks.ts";

export function describeEngine(name: string, make: () => TaskEngine | Promise<TaskEngine>): void {
  describe(`engine contract: ${name}`, () => {
    let engine: TaskEngine;
    beforeAll(async () => {
      engine = await make();
    });
    afterAll(async () => {
      await engine.close();
    });

    test("T1: what was stored is read back, byte for byte", async () => {
      const record = newRecord({ sealed: new Uint8Array([0, 255, 7, 128]) });
      expect(plain(await engine.store.create(record))).toEqual(plain(record));
      expect(plain(await engine.store.read(record.id))).toEqual(plain(record));
      expect(await engine.store.read(randomUUID())).toBeUndefined();
    });

    test("T1: the first of two tasks with one id is kept", async () => {
      const first = newRecord({ sealed: new Uint8Array([1]) });
      await engine.store.create(first);
      const second = await engine.store.create({ ...first, createdAt: 5, sealed: new Uint8Array([2]) });
      expect(plain(second)).toEqual(plain(first));
    });

    test("of many that create one id at once, all are told the same", async () => {
      const { id } = newRecord();
      const told = await Promise.all(
        Array.from({ length: 10 }, (_, n) => engine.store.create(newRecord({ id, sealed: new Uint8Array([n]) }))),
      );
      expect(new Set(told.map((task) => task?.sealed[0])).size).toBe(1);
    });

    test("S23: a principal has so many live tasks and no more; those that have ended or expired do not count", async () => {
      const owner = randomUUID();
      const create = async (change: Partial<TaskRecord> = {}): Promise<TaskRecord | undefined> =>
        engine.store.create(newRecord({ owner, ...change }), 2);
      const [first, short] = [newRecord({ owner }), newRecord({ owner, expiresAt: 1_500 })];
      expect([await create(first), await create(short)].map((task) => task?.id)).toEqual([first.id, short.id]);
      const third = newRecord({ owner });
      expect(await create(third)).toBeUndefined();
      expect(await engine.store.read(third.id)).toBeUndefined();
      // One that is there is found all the same, and others have an allowance of their own.
      expect((await create(first))?.id).toBe(first.id);
      expect(await create({ owner: randomUUID() })).toBeDefined();
      await engine.store.update(first.id, 1, headOf(first, { version: 2, status: "input_required" }));
      expect(await create()).toBeUndefined();
      await engine.store.update(first.id, 2, headOf(first, { version: 3, status: "completed" }));
      expect(await create()).toBeDefined();
      expect(await create({ createdAt: 1_499 })).toBeUndefined();
      expect(await create({ createdAt: 1_500 })).toBeDefined();
      expect(await create({ createdAt: 1_500 })).toBeUndefined();
    });

    test("S23: of many tasks that are created at once no fewer are granted than may be, and none later", async () => {
      const owner = randomUUID();
      const create = (): Promise<TaskRecord | undefined> => engine.store.create(newRecord({ owner }), 3);
      const granted = (await Promise.all(Array.from({ length: 10 }, create))).filter((task) => task !== undefined);
      expect(granted.length).toBeGreaterThanOrEqual(3);
      expect(await create()).toBeUndefined();
    });

    test("a write counts only on the version that it saw", async () => {
      const record = newRecord();
      await engine.store.create(record);
      const next = headOf(record, { version: 2, status: "input_required" });
      const whole = new Uint8Array([9, 9]);
      expect(await engine.store.update(record.id, 1, next, { whole })).toBe(true);
      for (const sealed of [undefined, { whole: new Uint8Array([7]) }, { more: new Uint8Array([7]) }]) {
        expect(await engine.store.update(record.id, 1, headOf(record, { version: 2 }), sealed)).toBe(false);
        expect(await engine.store.update(randomUUID(), 1, next, sealed)).toBe(false);
      }
      expect(plain(await engine.store.read(record.id))).toEqual(plain({ ...next, sealed: whole, appended: [] }));
    });

    test("what is appended is read back in its order, until the whole is written anew", async () => {
      const record = newRecord({ keepUntil: 400 });
      await engine.store.create(record);
      const write = async (version: number, sealed?: SealedWrite): Promise<unknown> => {
        expect(await engine.store.update(record.id, version - 1, headOf(record, { version }), sealed)).toBe(true);
        return plain(await engine.store.read(record.id));
      };
      // With heads alone between, and more than ten, whose versions sort otherwise as text.
      for (let version = 2; version < 24; version += 2) {
        await write(version, { more: new Uint8Array([version, 255, 0]) });
        await write(version + 1);
      }
      const appended = Array.from({ length: 11 }, (_, at) => new Uint8Array([2 + 2 * at, 255, 0]));
      expect(plain(await engine.store.read(record.id))).toEqual(plain({ ...record, version: 23, appended }));
      const whole = new Uint8Array([4, 4]);
      expect(await write(24, { whole })).toEqual(plain({ ...record, version: 24, sealed: whole }));
      const more = new Uint8Array([5]);
      expect(await write(25, { more })).toEqual(plain({ ...record, version: 25, sealed: whole, appended: [more] }));
      // Nothing of it is left once it was removed.
      await engine.store.sweep(400);
      expect(plain(await engine.store.create(record))).toEqual(plain(record));
      expect(plain(await engine.store.read(record.id))).toEqual(plain(record));
    });

    test("of many writes on one version exactly one counts", async () => {
      const record = newRecord();
      await engine.store.create(record);
      const next = headOf(record, { version: 2 });
      const write = (): Promise<boolean> => engine.store.update(record.id, 1, next, { more: new Uint8Array([1]) });
      expect((await Promise.all(Array.from({ length: 10 }, write))).filter(Boolean)).toEqual([true]);
      expect((await engine.store.read(record.id))?.appended.length).toBe(1);
    });

    test.each(["completed", "failed", "cancelled"] as const)("T4: %s does not change", async (status) => {
      const record = newRecord();
      await engine.store.create(record);
      expect(await engine.store.update(record.id, 1, headOf(record, { version: 2, status }))).toBe(true);
      expect(await engine.store.update(record.id, 2, headOf(record, { version: 3, status: "working" }))).toBe(false);
      expect((await engine.store.read(record.id))?.status).toBe(status);
    });

    test("due: woken, out of lease; not leased, waiting for answers, timed for later, ended", async () => {
      const at = 1_000_000;
      const make = async (change: Partial<TaskRecord>): Promise<string> => {
        const record = newRecord(change);
        await engine.store.create(record);
        return record.id;
      };
      const woken = await make({ wakeAt: at - 2 });
      const stalled = await make({ wakeAt: null, leaseUntil: at - 1 });
      const others = [
        await make({ wakeAt: at - 5, leaseUntil: at + 1 }),
        await make({ wakeAt: null }),
        await make({ wakeAt: at + 1 }),
        await make({ wakeAt: at - 5, status: "completed" }),
      ];
      const due = await engine.store.due(at, 1_000);
      expect(due.filter((id) => [woken, stalled, ...others].includes(id))).toEqual([woken, stalled]);
      expect((await engine.store.due(at, 1)).length).toBe(1);
      // Later writes move a task in and out.
      const record = await engine.store.read(woken);
      await engine.store.update(woken, 1, headOf(record as TaskRecord, { version: 2, wakeAt: null }));
      expect(await engine.store.due(at, 1_000)).not.toContain(woken);
    });

    test("T4: what is past its time is removed, ended or not", async () => {
      const old = newRecord({ keepUntil: 500 });
      const ended = newRecord({ keepUntil: 500, status: "completed" });
      const kept = newRecord({ keepUntil: 501 });
      for (const record of [old, ended, kept]) await engine.store.create(record);
      await engine.store.sweep(500);
      const found = await Promise.all([old, ended, kept].map(({ id }) => engine.store.read(id)));
      expect(found.map((record) => record?.id)).toEqual([undefined, undefined, kept.id]);
    });

    test("woken tasks are run, no task twice at a time, no more at a time than allowed", async () => {
      const ids: string[] = Array.from({ length: 6 }, () => randomUUID());
      const running = new Set<string>();
      const seen = new Set<string>();
      let most = 0;
      let twice = false;
      const loop = await engine.waker.work(
        async (id) => {
          if (!ids.includes(id)) return;
          twice ||= running.has(id);
          running.add(id);
          seen.add(id);
          most = Math.max(most, running.size);
          await new Promise((resolve) => setTimeout(resolve, 20));
          running.delete(id);
        },
        { concurrency: 2 },
      );
      for (const id of [...ids, ...ids]) await engine.waker.wake(id);
      await vi.waitFor(() => expect(seen.size).toBe(6), { timeout: 10_000 });
      await loop.close(5_000);
      expect([twice, most, running.size]).toEqual([false, 2, 0]);
    });

    test("a task that is woken while it runs is run again", async () => {
      const id = randomUUID();
      let runs = 0;
      let begun!: () => void;
      const first = new Promise<void>((resolve) => {
        begun = resolve;
      });
      let release!: () => void;
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const loop = await engine.waker.work(
        async (woken) => {
          if (woken !== id) return;
          runs += 1;
          begun();
          if (runs === 1) await gate;
        },
        { concurrency: 1 },
      );
      await engine.waker.wake(id);
      await first;
      await engine.waker.wake(id);
      release();
      await vi.waitFor(() => expect(runs).toBe(2), { timeout: 10_000 });
      await loop.close(5_000);
    });

    test("a task is woken at its time, not before", async () => {
      const id = randomUUID();
      let ranAt = 0;
      const loop = await engine.waker.work(
        async (woken) => {
          if (woken === id) ranAt ||= Date.now();
        },
        { concurrency: 1 },
      );
      const at = Date.now() + 300;
      await engine.waker.wake(id, at);
      await vi.waitFor(() => expect(ranAt).toBeGreaterThan(0), { timeout: 10_000 });
      expect(ranAt).toBeGreaterThanOrEqual(at - 2);
      await loop.close(5_000);
    });
  });
}

export function newRecord(change: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id: randomUUID(),
    version: 1,
    status: "working",
    owner: "owner",
    createdAt: 1_000,
    updatedAt: 1_000,
    ttlMs: 60_000,
    pollIntervalMs: 1_000,
    expiresAt: 61_000,
    keepUntil: 361_000,
    epoch: 0,
    leaseUntil: null,
    wakeAt: null,
    cancelRequested: false,
    sealed: new Uint8Array([1, 2, 3]),
    appended: [],
    ...change,
  };
}

/** What a write replaces of a record. */
export function headOf(
  { sealed: _sealed, appended: _appended, ...head }: TaskRecord,
  change: Partial<TaskHead>,
): TaskHead {
  return { ...head, ...change };
}

/** Stores may give any kind of bytes. */
function plain(record: TaskRecord | undefined): unknown {
  return record && { ...record, sealed: [...record.sealed], appended: record.appended.map((each) => [...each]) };
}
