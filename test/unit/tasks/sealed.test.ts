import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createKeyring, generateKey } from "../../../src/state/index.ts";
import type { TaskData } from "../../../src/tasks/data.ts";
import type { SealedWrite, TaskRecord } from "../../../src/tasks/engine.ts";
import { MOST_TASK_LENGTH, openTask, sealChange, sealWhole } from "../../../src/tasks/sealed.ts";
import { spliceBetween, spliced } from "../../../src/tasks/splice.ts";
import { newRecord } from "../../tasks/contract.ts";

const empty: TaskData = {
  target: "job",
  arguments: { a: 1 },
  client: { info: undefined, capabilities: { elicitation: {} } },
  principal: { type: "anonymous" },
  answersBefore: "none",
  sep: false,
  statusMessage: undefined,
  body: null,
  asks: new Map(),
  keys: new Map(),
  answers: new Map([["a", { action: "accept" }]]),
  stalls: 0,
};
const withSteps = (n: number, size = 5): TaskData => ({
  ...empty,
  body: { j: [Array.from({ length: n }, (_, at) => ["s", `step:${at}`, "x".repeat(size)])], y: 0 },
});
const ID = { id: "t", owner: "me" };

/** The record after a write, as a store makes it. */
function written(record: TaskRecord, write: SealedWrite | undefined): TaskRecord {
  if (write === undefined) return record;
  if ("whole" in write) return { ...record, sealed: write.whole, appended: [] };
  return { ...record, appended: [...record.appended, write.more] };
}

/** A task that was written with so many steps, one by one, and the record of it. */
function grown(key: string, steps: number): TaskRecord {
  const ring = createKeyring([key]);
  let { whole, sealed } = sealWhole(ring, ID, empty);
  let record = newRecord({ ...ID, sealed: whole });
  for (let n = 1; n <= steps; n++) {
    const change = sealChange(ring, ID, sealed, withSteps(n), false);
    sealed = change.sealed;
    record = written(record, change.write);
  }
  return record;
}

describe("splices", () => {
  test("what is added to a journal in the middle of a text is all that one has", () => {
    expect(spliceBetween('{"j":[1,2],"y":0}', '{"j":[1,2,3],"y":0}')).toEqual([9, 0, ",3"]);
    expect(spliceBetween("same", "same")).toEqual([4, 0, ""]);
    expect(spliceBetween("aa", "aaa")).toEqual([2, 0, "a"]);
    expect(spliceBetween("aaa", "a")).toEqual([1, 2, ""]);
    const long = "0123456789".repeat(10_000);
    expect(spliceBetween(`${long}a${long}`, `${long}b${long}`)).toEqual([100_000, 1, "b"]);
  });

  test("any texts come back from the first one and the splices between, halves of characters too", () => {
    const text = fc.array(fc.constantFrom("a", "b", "😀", "\ud83d", "é"), { maxLength: 12 }).map((all) => all.join(""));
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 8 }), (first, others) => {
        let last = first;
        const splices = others.map((next) => {
          const splice = spliceBetween(last, next);
          last = next;
          return JSON.parse(JSON.stringify(splice));
        });
        expect(spliced(first, splices)).toBe(last);
      }),
    );
  });
});

describe("sealed at rest", () => {
  const [old, next] = [generateKey(), generateKey()];
  const ring = createKeyring([old]);

  test("X3: what was sealed is opened, also under a key that no longer seals", () => {
    const record = grown(old, 5);
    expect(record.appended.length).toBe(5);
    expect(openTask(createKeyring([next, old]), record).data).toEqual(withSteps(5));
    // And goes on under the newer one.
    const both = createKeyring([next, old]);
    const { write } = sealChange(both, ID, openTask(both, record).sealed, withSteps(6), false);
    expect(openTask(both, written(record, write)).data).toEqual(withSteps(6));
    expect(() => openTask(ring, written(record, write))).toThrow(/cannot be read with the keys/);
  });

  test("X3: another task's, another owner's, and a missing key are refused", () => {
    const record = grown(old, 2);
    for (const change of [
      { id: "other" },
      { owner: "other" },
      { sealed: record.sealed.map((byte, at) => (at === 60 ? byte ^ 1 : byte)) },
    ]) {
      expect(() => openTask(ring, { ...record, ...change })).toThrow(/cannot be read with the keys/);
    }
    expect(() => openTask(createKeyring([next]), record)).toThrow(/Keep old keys in the ring/);
  });

  test("X3: what was appended counts in its place and to its own text only", () => {
    const record = grown(old, 3);
    const [first, second, third] = record.appended as [Uint8Array, Uint8Array, Uint8Array];
    for (const appended of [[second], [first, third], [second, first, third], [first, first], grown(old, 3).appended]) {
      expect(() => openTask(ring, { ...record, appended })).toThrow(/cannot be read with the keys/);
    }
  });

  test("nothing is written when nothing changed, all of it when the task has ended", () => {
    const { sealed } = openTask(ring, grown(old, 3));
    expect(sealChange(ring, ID, sealed, withSteps(3), false).write).toBeUndefined();
    expect(Object.keys(sealChange(ring, ID, sealed, withSteps(4), false).write ?? {})).toEqual(["more"]);
    expect(Object.keys(sealChange(ring, ID, sealed, withSteps(4), true).write ?? {})).toEqual(["whole"]);
  });

  test("a task keeps so much and no more; what is there already may still change", () => {
    const most = withSteps(1, MOST_TASK_LENGTH - 500);
    const { sealed } = sealWhole(ring, ID, most);
    expect(() => sealChange(ring, ID, sealed, withSteps(2, MOST_TASK_LENGTH / 2), false)).toThrow(
      /8388608 characters.*Return references/,
    );
    const over = sealWhole(ring, ID, withSteps(1, MOST_TASK_LENGTH)).sealed;
    expect(sealChange(ring, ID, over, withSteps(1, MOST_TASK_LENGTH - 1), false).write).toBeDefined();
  });
});
