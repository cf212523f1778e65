import type { ClientView, TaskAsk, TaskState } from "../flow/index.ts";
import { digest, type Principal } from "../state/index.ts";

/** What of a task is sealed. */
export interface TaskData {
  /** The tool's name. */
  readonly target: string;
  readonly arguments: unknown;
  readonly client: ClientView;
  readonly principal: Principal;
  /** The digest of the answers that the task rests on. */
  readonly answersBefore: string;
  /** It was asked for by `params.task`, and speaks SEP-2322. */
  readonly sep: boolean;
  readonly statusMessage: string | undefined;
  /** The journal. */
  readonly body: unknown;
  /** Open questions by the key that the client sees. */
  readonly asks: ReadonlyMap<string, TaskAsk>;
  /** The client's key of each question that was ever published, by identity. */
  readonly keys: ReadonlyMap<string, string>;
  /** What came, by the client's key; null once it is in the journal. */
  readonly answers: ReadonlyMap<string, unknown>;
  /** How many workers in a row died with it before it got any further. */
  readonly stalls: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const NONE: ReadonlySet<string> = new Set();

/** What changes least comes first, and the journal grows at its end. */
export function toText(data: TaskData): string {
  const { target, arguments: args, client, principal, answersBefore, sep, body, keys, answers, asks, ...rest } = data;
  const fixed = { target, arguments: args, client, principal, answersBefore, sep };
  return JSON.stringify({ ...fixed, body, keys: [...keys], answers: [...answers], asks: [...asks], ...rest });
}

export function toData(text: string): TaskData {
  const { asks, keys, answers, ...rest } = JSON.parse(text);
  return { statusMessage: undefined, ...rest, asks: new Map(asks), keys: new Map(keys), answers: new Map(answers) };
}

/** The principal as the record names it. */
export function ownerOf(principal: Principal): string {
  const { type } = principal;
  const tuple = type === "user" ? [type, principal.issuer, principal.subject, principal.tenant ?? null] : [type];
  return digest(JSON.stringify(["principal", ...tuple]));
}

/** The questions that wait for an answer, by the client's key. */
export function outstanding(data: TaskData): [string, TaskAsk][] {
  return [...data.asks].filter(([wire]) => !data.answers.has(wire));
}

/** Answers that no run has used yet, by the author's key, with their client's keys; without those that are taken already. */
export function arrived(
  data: TaskData,
  taken: { has(wire: string): boolean } = NONE,
): { readonly answers: Record<string, unknown>; readonly wires: string[] } {
  const answers: Record<string, unknown> = Object.create(null);
  const wires: string[] = [];
  for (const [wire, { key }] of data.asks) {
    const answer = data.answers.get(wire);
    if (answer === undefined || answer === null || taken.has(wire)) continue;
    answers[key] = answer;
    wires.push(wire);
  }
  return { answers, wires };
}

/** The task with what a run has made of it; `used` are the client's keys whose answers that run has taken. */
export function withState(data: TaskData, { body, asks }: TaskState, used: Iterable<string>): TaskData {
  const answers = new Map(data.answers);
  for (const wire of used) answers.set(wire, null);
  const keys = new Map(data.keys);
  const open = asks.map((ask): [string, TaskAsk] => [wireKey(ask, keys, answers), ask]);
  return { ...data, body, answers, keys, asks: new Map(open) };
}

/** T3: the first question of a key has the author's key, later ones `key#2` and so on; none is ever used again. */
function wireKey(ask: TaskAsk, keys: Map<string, string>, answers: ReadonlyMap<string, unknown>): string {
  const known = keys.get(ask.identity);
  if (known !== undefined && answers.get(known) !== null) return known;
  const taken = new Set([...keys.values(), ...answers.keys()]);
  let wire = ask.key;
  for (let attempt = 2; taken.has(wire); attempt++) wire = `${ask.key}#${attempt}`;
  keys.set(ask.identity, wire);
  return wire;
}
