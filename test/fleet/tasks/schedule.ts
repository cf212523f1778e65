// Which tasks there are and what befalls them, decided before they start: the same seed and size make the same schedule.
import { createDice } from "../dice.ts";

/**
 * `order` asks by rounds before it becomes a task, `ticket` becomes one at once and looks for its effect in no way, `job` is
 * one from its start.
 */
export type ToolName = "order" | "ticket" | "job";

/** What befalls a process that has to do with a task, once a task. */
export type Trouble =
  | "none"
  /** The server is killed once the task is stored: before its client hears of it, and before anybody is woken. */
  | "birth"
  /** The worker is killed before the task's first step. */
  | "first"
  /** The worker is killed in a step. */
  | "in_step"
  /** The worker is killed right after a step. */
  | "after_step"
  /** The worker is killed after the claim of an effect, before it is done. */
  | "die_before"
  /** The worker is killed after an effect, before it is settled. */
  | "die_after"
  /** The worker is stopped in a step for longer than its lease. */
  | "stop_in_step"
  /** The worker is stopped after the claim of an effect for longer than its lease. */
  | "stop_in_effect";

/** When the owner cancels: as soon as there is a task, at its first question, or between its questions. */
export type CancelAt = "at_once" | "asked" | "later";

/** What a person answers, by field. */
export type Answers = Readonly<Record<string, string | number>>;

export interface TaskPlan {
  readonly index: number;
  readonly tool: ToolName;
  /** `move`: it is followed by another client of the same user once there is a task. */
  readonly client: "follow" | "move" | "hand";
  readonly trouble: Trouble;
  readonly answers: Answers;
  /** Another one for each question: for whoever may not answer, or may not answer any more. */
  readonly others: Answers;
  readonly cancel: CancelAt | undefined;
  /** The last round before the task is sent twice at the same time. */
  readonly twin: boolean;
  /** Answers are sent twice at the same time, and then with other content. */
  readonly twice: boolean;
  /** An answer comes after the end. */
  readonly late: boolean;
  /** Another user tries to see, answer and cancel it. */
  readonly foreign: boolean;
  /** The last state before the task is presented again, with the same answers or with others. */
  readonly replays: readonly ("same" | "other")[];
}

/** What is done to the fleet once so many tasks have been asked for. */
export type TaskFleetEvent = {
  readonly at: number;
  /** `restart` ends it in good order. */
  readonly type: "kill" | "stop" | "restart";
  readonly process: number;
};

export interface TaskSchedule {
  readonly plans: readonly TaskPlan[];
  readonly events: readonly TaskFleetEvent[];
}

/** Servers, then workers; an engine with one process counts modulo it. */
export const SERVERS = 2;
export const WORKERS = 2;
const PROCESSES = SERVERS + WORKERS;

export function makeTaskSchedule(seed: number, size: number): TaskSchedule {
  const { random, below, pick, deal } = createDice(seed);
  const tools = deal<ToolName>(
    size,
    [
      ["ticket", 0.2, 4],
      ["job", 0.25, 4],
    ],
    "order",
  );
  const clients = deal<TaskPlan["client"]>(
    size,
    [
      ["follow", 0.35, 4],
      ["move", 0.1, 2],
    ],
    "hand",
  );
  const cancels = deal<CancelAt | undefined>(
    size,
    [
      ["at_once", 0.03, 1],
      ["asked", 0.03, 1],
      ["later", 0.04, 1],
    ],
    undefined,
  );
  const troubles = deal<Trouble>(
    size,
    [
      ["birth", 0.005, 1],
      ["first", 0.005, 1],
      ["in_step", 0.005, 1],
      ["after_step", 0.005, 1],
      ["die_before", 0.004, 1],
      ["die_after", 0.004, 1],
      ["stop_in_step", 0.003, 2],
      ["stop_in_effect", 0.002, 1],
    ],
    "none",
  );

  const plans = tools.map((tool, index): TaskPlan => {
    const answers = {
      item: pick(["tea", "coffee", "milk"]),
      count: 1 + below(9),
      note: `note ${below(1_000)}`,
      size: pick(["S", "M", "L"]),
      stars: 1 + below(5),
    };
    const trouble = troubles[index] as Trouble;
    // Troubles that lie behind the last question would not come.
    const cancel = trouble === "none" ? cancels[index] : undefined;
    // Whoever moves on does not cancel.
    const client =
      cancel !== undefined && clients[index] === "move" ? "follow" : (clients[index] as TaskPlan["client"]);
    return {
      index,
      // A job has no state by which its client could ask again what became of it.
      tool: trouble === "birth" ? "order" : tool,
      // A round that failed is sent again by hand only.
      client: trouble === "birth" ? "hand" : client,
      trouble,
      answers,
      others: {
        item: answers.item === "tea" ? "milk" : "tea",
        count: (answers.count % 9) + 1,
        note: `not ${answers.note}`,
        size: answers.size === "S" ? "L" : "S",
        stars: (answers.stars % 5) + 1,
      },
      cancel,
      twin: random() < 0.2,
      twice: random() < 0.4,
      late: random() < 0.3,
      foreign: random() < (client === "hand" ? 0.4 : 0.2),
      replays: (["same", "other"] as const).filter(() => random() < 0.3),
    };
  });

  const events: TaskFleetEvent[] = [];
  const often = (times: number, happen: () => Omit<TaskFleetEvent, "at">): void => {
    for (let time = 0; time < times; time++) events.push({ at: below(size), ...happen() });
  };
  often(Math.max(2, Math.round(size / 60)), () => ({ type: "kill", process: below(PROCESSES) }));
  often(Math.max(1, Math.round(size / 300)), () => ({ type: "stop", process: SERVERS + below(WORKERS) }));
  // A server and a worker; all of them where there is time for it.
  const restarted = size < 100 ? [0, SERVERS] : Array.from({ length: PROCESSES }, (_, process) => process);
  for (const process of restarted) {
    events.push({ at: Math.floor(size * (0.5 + process / 20)), type: "restart", process });
  }
  return { plans, events: events.sort((a, b) => a.at - b.at) };
}
