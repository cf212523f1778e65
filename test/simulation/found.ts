import type { ScheduleOptions } from "./schedule.ts";

/** A fault of the library that a schedule has shown: the test that holds it down once it is mended. */
export interface Found {
  /** Its name in `KNOWN_AT_BASE`. */
  readonly finds: string;
  /** What is violated, without numbers. */
  readonly violation: string;
  readonly options: ScheduleOptions & { readonly seed: number };
}

/** Schedules as `npm run simulate` has printed them. */
export const FOUND: readonly Found[] = [
  {
    finds: "H1",
    violation: "order#: first went to late, and to q when it was played again",
    options: {
      seed: 32,
      shapes: ["race-of-question-and-sleep"],
      even: true,
      without: ["incident/0:kill", "order1/whim/0.0.0:twice", "order1/tools/call/2:twice", "incident/2:pause"],
    },
  },
  {
    finds: "H5",
    violation: "order#: pay was done for a = order#a.#, and told to order#a.#",
    options: {
      seed: 7,
      shapes: ["restart"],
      even: true,
      without: ["order1/tools/call/3:lost", "order1/tools/call/5:answer_lost", "incident/0:kill", "incident/1:rotate"],
    },
  },
  {
    finds: "H9",
    violation: "order#: first went to c, and to a when it was played again",
    options: { seed: 1, shapes: ["race-in-one-turn"], even: true },
  },
  {
    finds: "H15",
    violation: "order#: pay begins long after its task was cancelled",
    options: {
      seed: 1306,
      shapes: ["task-of-steps"],
      even: true,
      without: ["W2.5/due/1:lost", "S2.2/read/1:refused", "incident/0:pause"],
    },
  },
  {
    finds: "heartbeat",
    violation: "S# has left a timer of # ms behind",
    options: { seed: 106, shapes: ["keyed", "slow-effect", "steps"], even: true },
  },
  {
    finds: "single-use",
    violation: "order#: one state was used with two answers",
    options: {
      seed: 7523,
      shapes: ["single-use"],
      even: true,
      without: ["incident/0:kill", "S2.2/release/1:slow", "S1.1/claim/1:lost"],
    },
  },
  {
    finds: "subset",
    violation: "order#: by-p was done for q = order#q.#, and told to order#q.#",
    options: {
      seed: 1692,
      shapes: ["race-of-questions"],
      without: [
        "order1/tools/call/8:twice",
        "order1/whim/f0.1.0:twice",
        "S3.3/claim/2:dies_before",
        "order1/end/1/begin:stands_still",
        "order1/whim/0.0.1:forks",
        "order1/whim/0.0.2:partly",
        "order1/whim/f0.1.0:cancels",
      ],
    },
  },
];
