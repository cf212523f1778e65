// A task as its client sees it: what it was called with, what it was asked, how it ended.
import type { Client, PendingRound } from "../../../src/client.ts";
import { readEnding, readFailure, type ToolResult } from "../ending.ts";
import type { TaskCounts } from "./counts.ts";
import type { Answers, TaskPlan } from "./schedule.ts";
import type { TaskArguments } from "./task-process.ts";

export type TaskHandle = ReturnType<Client["task"]>;
export type DetailedTask = Awaited<ReturnType<TaskHandle["get"]>>;

/** A round that waits, as plain data, with its answers. */
export type Kept = ReturnType<PendingRound["toJSON"]>;

/** One try of a task under an order of its own. */
export interface Attempt {
  readonly plan: TaskPlan;
  readonly args: TaskArguments & { readonly [name: string]: unknown };
}

/** What a call became. */
export type Played =
  | { readonly type: "task"; readonly handle: TaskHandle; readonly ended: DetailedTask; readonly kept: readonly Kept[] }
  /** No task was told of. */
  | { readonly type: "failed"; readonly message: string; readonly clear: boolean };

/** A user's clients, and where things are counted. */
export interface Scene {
  readonly mine: Client;
  /** Another client of the same user, as on another machine. */
  readonly second: Client;
  readonly stranger: Client;
  readonly counts: TaskCounts;
  /** Has both of the user's clients ask this person. */
  ask(person: Person): void;
}

const HOUR = 3_600_000;

export function attempt(plan: TaskPlan, number: number): Attempt {
  const order = `${plan.tool}-${plan.index}-${number}`;
  return { plan, args: { order, trouble: plan.trouble, ttlMs: HOUR + 10 * plan.index + number } };
}

/** The number of the plan that an order is of. */
export function indexOf(order: string): number {
  return Number(order.split("-")[1]);
}

export interface Person {
  /** Answers a question, and counts one that had an answer already; undefined: this one is never answered. */
  answer(fields: readonly string[]): Answers | undefined;
}

/** @param shows hears of each question, by its fields */
export function createPerson(
  { answers, cancel }: TaskPlan,
  counts: TaskCounts,
  shows: (fields: readonly string[]) => void = () => undefined,
): Person {
  const answered = new Set<string>();
  return {
    answer(fields) {
      shows(fields);
      // The last question stays open, so that a task that is to be cancelled cannot end otherwise.
      if (cancel !== undefined && fields.includes("stars")) return undefined;
      if (fields.some((field) => answered.has(field))) counts.askedAgain += 1;
      for (const field of fields) answered.add(field);
      return Object.fromEntries(fields.map((field) => [field, answers[field] ?? ""]));
    },
  };
}

export function isEnded({ status }: DetailedTask): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** What was wrong with a call that never told of a task. */
export function readCallFailure(error: unknown): Played {
  const ending = readFailure(error);
  return ending.type === "unheard"
    ? { ...ending, type: "failed" }
    : { type: "failed", message: ending.type, clear: false };
}

/** A call that ended without having become a task. */
export function readResult(result: ToolResult | undefined): Played {
  const ending = readEnding(result);
  if (ending.type === "failed") return { ...ending, type: "failed" };
  return { type: "failed", message: `It is no task: ${JSON.stringify(result)}`, clear: false };
}

/** An answer to a question, as it goes over the wire. */
export function accept(content: Answers): { readonly action: "accept"; readonly content: Answers } {
  return { action: "accept", content };
}
