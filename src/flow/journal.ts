import type { Failure } from "./failure.ts";

/** The kinds of questions, as the journal names them. */
export type AskKind = "form" | "url" | "sampling" | "roots";

/** A settled answer: key, kind, the reduced response, the digest it was pinned to, how often the question changed. */
export type AnswerEntry = readonly ["a", string, AskKind, unknown, string | null, number];
/** A step's value, absent when the step returned nothing. */
export type StepEntry = readonly ["s", string, unknown?];
/** A settled effect's value. */
export type EffectEntry = readonly ["o", string, unknown?];
/** The end of a sleep. */
export type WokenEntry = readonly ["w", string];
/** How a step (`s`) or an effect (`o`) failed. */
export type FailureEntry = readonly ["f", "s" | "o", string, Failure];
/** Something that came to the handler. */
export type Entry = AnswerEntry | StepEntry | EffectEntry | WokenEntry | FailureEntry;

/** Entries whose calls followed one another; before a later group is handed out the run must be quiet for a turn. */
export type Group = readonly Entry[];

/** A question that waits: key, kind, tries so far, the digest it is pinned to, changes so far, whether it overlaps the last group. */
export type OpenQuestion = readonly [string, AskKind, number, string | null, number, 0 | 1];

export interface Found<E extends Entry = Entry> {
  readonly entry: E;
  readonly index: number;
}

/** What a call of each type may find under its name. */
interface Findable {
  readonly a: AnswerEntry;
  readonly s: StepEntry | FailureEntry;
  readonly o: EffectEntry | FailureEntry;
  readonly w: WokenEntry;
}

/**
 * What a flow knows: everything that came to its handler, in the order in which it came.
 *
 * An entry overlaps the one before when its call had already begun as that one was handed out: only then could a handler
 * observe their order over more than microtasks, and only then does a replay pay a turn of the event loop between them.
 */
export class Journal {
  /** In the order of arrival; undefined where something was taken back. */
  readonly entries: (Entry | undefined)[] = [];
  /** Sleeps that have begun and not ended: when each will. */
  readonly sleeps: Map<string, number>;
  /** How many entries came in earlier rounds. */
  readonly known: number;
  readonly #overlapping: boolean[] = [];
  readonly #places = new Map<string, number>();

  constructor(groups: readonly Group[] = [], sleeps: readonly (readonly [string, number])[] = []) {
    this.sleeps = new Map(sleeps);
    groups.forEach((group, at) => {
      group.forEach((entry, within) => {
        this.add(entry, at > 0 && within === 0);
      });
    });
    this.known = this.entries.length;
  }

  find<T extends keyof Findable>(type: T, name: string): Found<Findable[T]> | undefined {
    const index = this.#places.get(type + name);
    return index === undefined ? undefined : { entry: this.entries[index] as Findable[T], index };
  }

  /** Adds what has just come, and says where it stands. */
  add(entry: Entry, overlaps: boolean): number {
    const index = this.entries.push(entry) - 1;
    this.#overlapping.push(overlaps && index > 0);
    this.#places.set(placeOf(entry), index);
    if (entry[0] === "w") this.sleeps.delete(entry[1]);
    return index;
  }

  /** Takes something back: an answer of no use, whose question is asked again, or what nobody waits for any more. */
  remove(index: number): void {
    const entry = this.entries[index];
    if (entry === undefined) return;
    this.entries[index] = undefined;
    this.#places.delete(placeOf(entry));
  }

  overlaps(index: number): boolean {
    return this.#overlapping[index] ?? false;
  }

  /** The journal as it is sealed. */
  get groups(): Group[] {
    const groups: Entry[][] = [];
    let due = false;
    for (let index = 0; index < this.entries.length; index++) {
      const entry = this.entries[index];
      due ||= this.overlaps(index);
      if (entry === undefined) continue;
      if (due || groups.length === 0) groups.push([]);
      groups.at(-1)?.push(entry);
      due = false;
    }
    return groups;
  }

  get answers(): AnswerEntry[] {
    return this.entries.filter((entry): entry is AnswerEntry => entry?.[0] === "a");
  }
}

function placeOf(entry: Entry): string {
  return entry[0] === "f" ? entry[1] + entry[2] : entry[0] + entry[1];
}

/** The sealed body of a flow. Short names: it travels with every round. */
export interface FlowBody {
  /** Flow id. */
  readonly f: string;
  /** The round that sealed this. */
  readonly n: number;
  /** The newest handler version that the flow has met. */
  readonly v: number;
  readonly q: readonly OpenQuestion[];
  readonly j: readonly Group[];
  /** Sleeps that go on. */
  readonly s?: readonly (readonly [string, number])[];
  /** Voluntary tickets so far. */
  readonly y: number;
  /** Tickets in a row because an effect was still running. */
  readonly w: number;
  /** The state of a handler that keeps its own. */
  readonly m?: string;
  /** What a trace wants to find again. */
  readonly t?: string;
}

/** Authentic, so only a body of another format fails here. */
export function isFlowBody(value: unknown): value is FlowBody {
  const body = value as Partial<FlowBody> | null;
  return (
    typeof body === "object" &&
    body !== null &&
    typeof body.f === "string" &&
    typeof body.n === "number" &&
    typeof body.v === "number" &&
    Array.isArray(body.q) &&
    Array.isArray(body.j)
  );
}
