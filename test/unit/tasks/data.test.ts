import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TaskAsk } from "../../../src/flow/index.ts";
import { arrived, outstanding, ownerOf, type TaskData, withState } from "../../../src/tasks/data.ts";

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
  answers: new Map(),
  stalls: 0,
};

/** Question `text` under `key`, asked for the `tries`th time. */
function ask(key: string, text = "?", tries = 0): TaskAsk {
  const params = { mode: "form", message: text, requestedSchema: { type: "object", properties: {} } } as const;
  return {
    key,
    identity: `${key}/${text}/${tries}`,
    request: { method: "elicitation/create", params },
    question: [key, "form", tries, null, 0, 0],
    reason: "",
  };
}

const asking = (data: TaskData, ...asks: TaskAsk[]): TaskData => withState(data, { body: null, asks }, []);
const answered = (data: TaskData, ...wires: string[]): TaskData => ({
  ...data,
  answers: new Map([...data.answers, ...wires.map((wire) => [wire, { action: "accept" }] as const)]),
});
const wires = (data: TaskData): string[] => outstanding(data).map(([wire]) => wire);

describe("the keys that clients see", () => {
  test("T3: a question keeps its key while it stands, whatever is asked beside it", () => {
    const one = asking(empty, ask("a"));
    const two = asking(one, ask("b"), ask("a"));
    expect([wires(one), wires(two)]).toEqual([["a"], ["b", "a"]]);
    // Withdrawn and asked again, without an answer between: the same question.
    expect(wires(asking(asking(two, ask("b")), ask("a"), ask("b")))).toEqual(["a", "b"]);
  });

  test("T3: another try and another text have keys of their own", () => {
    let data = answered(asking(empty, ask("a")), "a");
    const { answers, wires: used } = arrived(data);
    expect([{ ...answers }, used]).toEqual([{ a: { action: "accept" } }, ["a"]]);
    data = withState(data, { body: null, asks: [ask("a", "?", 1)] }, used);
    expect(wires(data)).toEqual(["a#2"]);
    // An upgrade asks something else meanwhile: an answer to the old question does not reach the new one.
    const upgraded = asking(data, ask("a", "and what else?", 1));
    expect(wires(upgraded)).toEqual(["a#3"]);
    expect(arrived(answered(upgraded, "a#2")).wires).toEqual([]);
  });

  test("T3: an answered question is never asked under its key again, not even the same one", () => {
    const data = withState(answered(asking(empty, ask("a")), "a"), { body: null, asks: [ask("a")] }, ["a"]);
    expect(wires(data)).toEqual(["a#2"]);
  });

  test("T3: authors' keys that look like ours, and odd ones, do not meet", () => {
    const data = asking(asking(empty, ask("a#2"), ask("a"), ask("__proto__")), ask("a", "other"), ask("a#2"));
    expect(wires(data)).toEqual(["a#3", "a#2"]);
    const odd = answered(asking(empty, ask("__proto__")), "__proto__");
    expect(Object.keys(arrived(odd).answers)).toEqual(["__proto__"]);
  });

  test("T3: no key ever stands for two questions, whatever is asked and answered", () => {
    const step = fc.record({
      asks: fc.uniqueArray(fc.record({ key: fc.constantFrom("a", "a#2", "b"), tries: fc.nat(2) }), {
        selector: ({ key }) => key,
        maxLength: 3,
      }),
      answer: fc.nat(2),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let data = empty;
        const meant = new Map<string, string>();
        const used = new Set<string>();
        for (const { asks, answer } of steps) {
          const { wires: taken } = arrived(data);
          for (const wire of taken) used.add(wire);
          data = withState(data, { body: null, asks: asks.map(({ key, tries }) => ask(key, "?", tries)) }, taken);
          for (const [wire, { identity }] of outstanding(data)) {
            expect(used.has(wire)).toBe(false);
            expect(meant.get(wire) ?? identity).toBe(identity);
            meant.set(wire, identity);
          }
          const wire = wires(data)[answer];
          if (wire !== undefined) data = answered(data, wire);
        }
      }),
    );
  });
});

test("T4: principals differ in each of their parts", () => {
  const user = { type: "user", issuer: "https://a", subject: "s" } as const;
  const owners = [
    ownerOf({ type: "anonymous" }),
    ownerOf(user),
    ownerOf({ ...user, issuer: "https://b" }),
    ownerOf({ ...user, subject: "t" }),
    ownerOf({ ...user, tenant: "" }),
    ownerOf({ ...user, tenant: "x" }),
  ];
  expect(new Set(owners).size).toBe(owners.length);
});
