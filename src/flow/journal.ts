/** The kinds of questions, as the journal names them. */
export type AskKind = "form" | "url" | "sampling" | "roots";

/** A settled answer: key, kind, the reduced response, the digest it was pinned to, how often the question changed. */
export type AnswerEntry = readonly ["a", string, AskKind, unknown, string | null, number];
/** A step's value, absent when the step returned nothing. */
export type StepEntry = readonly ["s", string, unknown?];
/** A settled effect's value. */
export type EffectEntry = readonly ["o", string, unknown?];
export type Entry = AnswerEntry | StepEntry | EffectEntry;

/** Entries that arrived together; a later group is handed out a turn after an earlier one. */
export type Group = Entry[];

/** A question that waits: key, kind, tries so far, the digest it is pinned to, changes so far, whether it overlaps the last group. */
export type OpenQuestion = readonly [string, AskKind, number, string | null, number, 0 | 1];

export interface Found<E extends Entry = Entry> {
  readonly entry: E;
  readonly group: number;
}

/**
 * What a flow knows, in the order in which it arrived.
 *
 * Two entries share a group unless the later one's call had already begun when the earlier one arrived: only then could
 * their order be observed, by `Promise.race` say, and only then does a replay need a turn between them. A handler that
 * awaits one thing after another has one group, and its replay costs no turn at all.
 */
export class Journal {
  readonly groups: Group[];
  readonly #found = new Map<string, Found>();

  constructor(groups: readonly (readonly Entry[])[] = []) {
    this.groups = groups.map((group) => [...group]);
    this.groups.forEach((group, index) => {
      for (const entry of group) this.#found.set(entry[0] + entry[1], { entry, group: index });
    });
  }

  find(type: "a", name: string): Found<AnswerEntry> | undefined;
  find(type: "s" | "o", name: string): Found<StepEntry | EffectEntry> | undefined;
  find(type: "a" | "s" | "o", name: string): Found | undefined {
    return this.#found.get(type + name);
  }

  /** Adds an entry to the last group, or to a new one when its call overlapped that group. */
  add<E extends Entry>(entry: E, overlaps: boolean): Found<E> {
    if (this.groups.length === 0 || overlaps) this.groups.push([]);
    const group = this.groups.length - 1;
    this.groups[group]?.push(entry);
    const found = { entry, group };
    this.#found.set(entry[0] + entry[1], found);
    return found;
  }

  remove(found: Found): void {
    const group = this.groups[found.group];
    const at = group?.indexOf(found.entry) ?? -1;
    if (at >= 0) group?.splice(at, 1);
    this.#found.delete(found.entry[0] + found.entry[1]);
  }

  get answers(): AnswerEntry[] {
    return this.groups.flat().filter((entry) => entry[0] === "a");
  }
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
