import { stripVTControlCharacters, styleText } from "node:util";
import type { FormAnswer, FormAsk, RoundInfo } from "../../src/client.ts";
import type { Cluster } from "./cluster.ts";
import type { Ending } from "./dialogue.ts";
import type { Change, WorkItem } from "./tracker.ts";

// styleText leaves colours out where they do not belong: without a terminal, and where NO_COLOR is set.
export const bold = (text: string): string => styleText("bold", text);
export const dim = (text: string): string => styleText("dim", text);

/** What waits until a person has answered; undefined: nobody is being asked. */
let held: string[] | undefined;

export function say(text: string): void {
  if (held === undefined) console.log(text);
  else held.push(text);
}

/** Leaves the terminal to a question: what is said meanwhile follows it. */
export async function quietly<T>(ask: () => Promise<T>): Promise<T> {
  const waiting: string[] = [];
  held = waiting;
  try {
    return await ask();
  } finally {
    held = undefined;
    for (const text of waiting) say(text);
  }
}

export function showServers({ url, pids }: Cluster): void {
  const names = [...pids].map(([name, pid]) => `${name} (pid ${pid})`);
  say(`Servers: ${names.join(", ")}`);
  say(`They share VOLLEY_KEYS and their audience, the address of the round-robin proxy before them: ${url}`);
}

export function showCluster(cluster: Cluster, db: string): void {
  showServers(cluster);
  showTracker(db);
}

export function showStdio(db: string): void {
  say("Server: one process over standard input and output, with a key of its own");
  showTracker(db);
}

function showTracker(db: string): void {
  say(`Tracker: an outside system that servers call; it keeps work items, no rounds. Here it is a file: ${db}`);
  say(
    "It makes a change once for each idempotency key, so the record that `once` keeps in a server's memory is enough.\n",
  );
}

/** One line a round: who served it, how long they and the person took, and what the client holds now. */
export function showRound(round: RoundInfo, instance: string, last = "the result"): void {
  const asks = Object.keys(round.requests).map((key) => `"${key}"`);
  const outcome = round.done ? last : `asks ${asks.join(", ")}; state ${round.stateBytes ?? 0} bytes`;
  const person = round.round === 1 ? "".padStart(15) : `person ${time(round.waitMs)}`;
  say(`${bold(`round ${round.round}`)}  ${instance}  server ${time(round.ms)}  ${person}  ${outcome}`);
}

export function showKill(instance: string): void {
  say(styleText("red", `         ${instance}, which sealed that state, is killed (SIGKILL)`));
}

/** A question that no terminal has shown, with its answer. */
export function showAnswer({ message }: FormAsk, answer: FormAnswer): void {
  const values = typeof answer === "string" ? [answer] : Object.values(answer).map(word);
  say(`         ${plain(message)} ${bold(values.join(", "))}`);
}

export function showEnding({ text, isError }: Ending): void {
  say(`\n${styleText(isError ? "red" : "green", plain(text))}\n`);
}

export function showItem(item: WorkItem | undefined): void {
  if (item === undefined) return;
  const { id, type, state, title, resolution, duplicateOf } = item;
  const original = duplicateOf === null ? "" : ` of #${duplicateOf}`;
  const how = resolution === null ? "" : `, ${resolution}${original}`;
  say(`#${id}  ${type}  ${bold(state + how)}  ${dim(title)}`);
}

export function showHistory(history: readonly Change[]): void {
  say(`Changes of it in the tracker's history: ${history.length}`);
}

export function showHeld(): void {
  say("Held on the servers between the rounds: nothing. Each state travelled with the client, sealed.");
}

/** Text of a server without what would steer the terminal. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/\n+/g, "\n");
}

function word(value: unknown): string {
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

function time(ms: number): string {
  return (ms < 1_000 ? `${ms.toFixed(1)} ms` : `${(ms / 1_000).toFixed(1)} s`).padStart(8);
}
