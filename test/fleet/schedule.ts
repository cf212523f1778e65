// What the fleet does and suffers, decided before it starts: the same seed and size make the same schedule.
import { createDice } from "./dice.ts";

export type ToolName = "order" | "invoice" | "post" | "ticket" | "brief";

/** What befalls the process in which a flow's effect runs, once. */
export type Trouble =
  | "none"
  /** Killed after the claim, before the effect. */
  | "die_before"
  /** Killed after the effect, before it is settled. */
  | "die_after"
  /** Stopped after the claim for longer than its lease. */
  | "stop"
  /** The effect is settled, and the connection cut before the answer. */
  | "cut";

/** What is done with a flow's old states. Foreign ones must be refused. */
export type Replay = "same" | "other" | "other_user" | "other_arguments" | "other_tool" | "altered";

/** What a person answers, by field. */
export type Answers = Readonly<Record<string, string | number | boolean>>;

export interface FlowPlan {
  readonly index: number;
  readonly client: "volley" | "official";
  readonly tool: ToolName;
  readonly trouble: Trouble;
  readonly answers: Answers;
  /** Other ones, for replays. */
  readonly others: Answers;
  /** The last round is sent twice at the same time. */
  readonly twin: boolean;
  readonly replays: readonly Replay[];
  /** The person thinks about the last question until this is over. */
  readonly waitsFor: FleetEvent["type"] | undefined;
}

/** What is done to the fleet once so many flows have begun. `process` is a number from 0. */
export type FleetEvent = { readonly at: number } & (
  | { readonly type: "kill" | "stop"; readonly process: number }
  /** One after another. */
  | { readonly type: "append_key" | "seal_with_new_key" | "roll_to_version_2" }
  | { readonly type: "busy"; readonly process: number; readonly on: boolean }
  | { readonly type: "skew"; readonly process: number; readonly ms: number }
  | { readonly type: "stop_store" | "kill_store"; readonly downMs: number }
);

export interface Schedule {
  readonly flows: readonly FlowPlan[];
  readonly events: readonly FleetEvent[];
}

export const PROCESSES = 3;
const MINUTE = 60_000;
/** How many flows wait with an open question while keys change or a version is replaced. */
const WAITING = 3;

export function makeSchedule(seed: number, size: number): Schedule {
  const { random, below, pick, deal } = createDice(seed);

  const answers = (sure: boolean): Answers => ({
    item: pick(["tea", "coffee", "milk"]),
    count: 1 + below(9),
    size: pick(["S", "M", "L"]),
    litres: 1 + below(5),
    confirm: sure,
    stars: 1 + below(5),
  });

  const clients = deal<FlowPlan["client"]>(size, [["official", 0.35, 2]], "volley");
  const tools = deal<ToolName>(
    size,
    [
      ["invoice", 0.2, 2],
      ["post", 0.15, 2],
      ["ticket", 0.1, 2],
      ["brief", 0.03, 2],
    ],
    "order",
  );
  const troubles = deal<Trouble>(
    size,
    [
      ["die_before", 0.004, 2],
      ["die_after", 0.004, 2],
      ["stop", 0.0015, 1],
      ["cut", 0.03, 3],
    ],
    "none",
  );
  const unsure = deal(size, [[true, 0.04, 1]], false);
  const replays: Replay[] = ["same", "other", "other_user", "other_arguments", "other_tool", "altered"];

  const flows = clients.map((client, index): FlowPlan => {
    const sure = unsure[index] !== true;
    const mine = answers(sure);
    const trouble = troubles[index] as Trouble;
    return {
      index,
      client,
      tool: tools[index] as ToolName,
      trouble,
      answers: mine,
      // Surely another item: the question that every tool asks.
      others: { ...answers(true), item: mine.item === "tea" ? "milk" : "tea" },
      twin: trouble !== "none" || random() < 0.1,
      // What a person declined may be done by a replay with other answers: that would be right, and say nothing.
      replays: sure ? replays.filter(() => random() < 0.12) : [],
      waitsFor: undefined,
    };
  });

  const at = (part: number): number => Math.floor(part * size);
  const events: FleetEvent[] = [
    { at: at(0.12), type: "append_key" },
    { at: at(0.2), type: "busy", process: 0, on: true },
    { at: at(0.28), type: "seal_with_new_key" },
    { at: at(0.38), type: "stop_store", downMs: 500 },
    { at: at(0.46), type: "roll_to_version_2" },
    { at: at(0.55), type: "skew", process: 1, ms: MINUTE },
    { at: at(0.64), type: "kill_store", downMs: size < 1_000 ? 500 : 7_000 },
    { at: at(0.7), type: "skew", process: 1, ms: -MINUTE },
    { at: at(0.76), type: "busy", process: 0, on: false },
    { at: at(0.84), type: "skew", process: 1, ms: 0 },
  ];
  const often = (type: "kill" | "stop", times: number): void => {
    for (let time = 0; time < times; time++) events.push({ at: below(size), type, process: below(PROCESSES) });
  };
  often("kill", Math.max(2, Math.round(size / 300)));
  often("stop", Math.max(1, Math.round(size / 1_500)));
  for (const { at: end, type } of events) {
    if (type !== "append_key" && type !== "seal_with_new_key" && type !== "roll_to_version_2") continue;
    const before = flows.filter(({ index, client, tool }) => index < end && client === "volley" && tool === "order");
    for (const plan of before.slice(-WAITING)) flows[plan.index] = { ...plan, waitsFor: type };
  }
  return { flows, events: events.sort((a, b) => a.at - b.at) };
}
