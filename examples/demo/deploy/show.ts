import { styleText } from "node:util";
import type { Task } from "../../../src/client.ts";
import type { Cluster } from "../cluster.ts";
import { bold, dim, plain, say, showServers } from "../show.ts";
import type { Work } from "./platform.ts";

const BAR = 20;

export function showDeployers(cluster: Cluster, db: string): void {
  showServers(cluster);
  say("They also share a SQLite file, which holds tasks and what `once` has done; each of them works on tasks too.");
  say(`Platform: an outside system that they deploy to. Here it is a file: ${db}\n`);
}

/** One line a state: the bar is drawn from the message, which is all the progress that a task has. */
export function showTask({ taskId, status, statusMessage = "" }: Task, isNew: boolean): void {
  if (isNew) say(`${bold("task")}     ${taskId}: the client may leave now`);
  const [, done, all] = /^(\d+) of (\d+)\b/.exec(statusMessage) ?? [];
  const filled = status === "completed" ? BAR : Math.round((BAR * Number(done ?? 0)) / Number(all ?? 1));
  const bar = "█".repeat(filled) + "░".repeat(BAR - filled);
  say(`${bold("task")}     ${bar}  ${`${status.padEnd(14)}  ${plain(statusMessage)}`.trimEnd()}`);
}

/** A line of the platform's log. */
export function showWork({ name, by, done }: Work, pid: number | undefined): void {
  say(dim(`platform ${by} (pid ${pid}) ${done ? "has done" : "begins"} "${name}"`));
}

export function showMeanwhile(underWay: readonly Work[]): void {
  for (const { name, by } of underWay) say(`         the task asks while ${by} goes on with "${name}"`);
}

export function showKilled(instance: string, pid: number | undefined, { name }: Work): void {
  say(styleText("red", `         killed worker pid ${pid} (SIGKILL): ${instance}, in the middle of "${name}"`));
}

/** Whether something is so. */
export function showCheck(text: string, holds: boolean): void {
  say(`${holds ? styleText("green", "yes") : styleText("red", "NO ")}  ${text}`);
}
