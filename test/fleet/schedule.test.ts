import { expect, test } from "vitest";
import { makeSchedule } from "./schedule.ts";

test("the same seed makes the same schedule, another seed another one", () => {
  expect(makeSchedule(1, 60)).toEqual(makeSchedule(1, 60));
  expect(makeSchedule(2, 60)).not.toEqual(makeSchedule(1, 60));
});

test("even a short schedule has every kind of trouble, replay and event", () => {
  const { flows, events } = makeSchedule(1, 60);
  expect(new Set(flows.map(({ trouble }) => trouble))).toEqual(
    new Set(["none", "die_before", "die_after", "stop", "cut"]),
  );
  expect(new Set(flows.flatMap(({ replays }) => replays)).size).toBe(6);
  expect(new Set(events.map(({ type }) => type)).size).toBe(9);
});
