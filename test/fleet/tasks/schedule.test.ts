import { expect, test } from "vitest";
import { makeTaskSchedule } from "./schedule.ts";

test("the same seed makes the same schedule, another seed another one", () => {
  expect(makeTaskSchedule(1, 24)).toEqual(makeTaskSchedule(1, 24));
  expect(makeTaskSchedule(2, 24)).not.toEqual(makeTaskSchedule(1, 24));
});

test.each([1, 2, 3])(
  "even a short schedule has every kind of tool, trouble and event, whatever its seed (%i)",
  (seed) => {
    const { plans, events } = makeTaskSchedule(seed, 24);
    const kinds = (values: readonly unknown[]): number => new Set(values).size;
    expect(kinds(plans.map(({ trouble }) => trouble))).toBe(9);
    expect(kinds(plans.map(({ tool }) => tool))).toBe(3);
    expect(kinds(plans.map(({ client }) => client))).toBe(3);
    expect(kinds(events.map(({ type }) => type))).toBe(3);
    for (const happens of [
      plans.some(({ cancel }) => cancel !== undefined),
      plans.some(({ client, twice }) => client === "hand" && twice),
      plans.some(({ late }) => late),
      plans.some(({ foreign }) => foreign),
      plans.some(({ client, tool, replays }) => client === "hand" && tool === "order" && replays.includes("other")),
    ]) {
      expect(happens).toBe(true);
    }
  },
);
