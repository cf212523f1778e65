// One realm in which time is a queue of events: who does what next is what the luck of its seed says.
import { Luck, type Wishes } from "./luck.ts";
import { real } from "./real-time.ts";

/** Something that lives, with a clock of its own: a client, a server, a worker. What it waits for dies with it. */
export interface Process {
  readonly name: string;
  /** How far its clock is ahead. */
  readonly offsetMs: number;
  alive: boolean;
  pausedUntil: number;
  readonly atDeath: (() => void)[];
}

export interface Event {
  readonly owner: Process | undefined;
  readonly task: () => void;
  at: number;
  order: number;
  cancelled: boolean;
  readonly kind: "io" | "timer" | "turn" | "moment";
  readonly ms: number;
}

export interface Line {
  readonly at: number;
  readonly who: string;
  readonly what: string;
}

/** Where time begins, in milliseconds since 1970. */
const BEGINNING = 1_800_000_000_000;
/** No schedule takes so many. */
const MOST_EVENTS = 60_000;

export class World {
  readonly luck: Luck;
  readonly lines: Line[] = [];
  readonly violations: string[] = [];
  /** Milliseconds since the beginning. */
  time = 0;
  /** Whose event runs. */
  current: Process | undefined;
  running = false;
  readonly #queue: Event[] = [];
  #order = 0;
  #events = 0;

  /** Faults of the library that are known, and not told. */
  readonly known: readonly string[];

  constructor(seed: number, wishes: Wishes, known: readonly string[]) {
    this.known = known;
    this.luck = new Luck(seed, () => this.time, wishes);
  }

  /** Milliseconds since 1970 by a process's clock; without one, by the stores'. */
  now(process: Process | undefined = undefined): number {
    return Math.floor(BEGINNING + this.time + (process?.offsetMs ?? 0));
  }

  process(name: string, offsetMs = 0): Process {
    return { name, offsetMs, alive: true, pausedUntil: 0, atDeath: [] };
  }

  note(who: string, what: string): void {
    this.lines.push({ at: this.time, who, what });
  }

  /** @param finds the known fault of the library that this would be */
  violate(what: string, finds = ""): void {
    if (this.known.includes(finds) || this.violations.includes(what)) return;
    this.violations.push(what);
    this.note("!", what);
  }

  after(ms: number, owner: Process | undefined, task: () => void, kind: Event["kind"] = "io"): Event {
    const event: Event = {
      owner,
      task,
      at: this.time + Math.max(0, ms),
      order: this.#order++,
      cancelled: false,
      kind,
      ms,
    };
    this.#push(event);
    return event;
  }

  sleep(ms: number, owner: Process): Promise<void> {
    return new Promise((resolve) => void this.after(ms, owner, resolve));
  }

  kill(process: Process): void {
    if (!process.alive) return;
    process.alive = false;
    this.note(process.name, "dies");
    for (const tell of process.atDeath.splice(0)) tell();
  }

  pause(process: Process, ms: number): void {
    this.note(process.name, `stands still for ${Math.round(ms)} ms`);
    process.pausedUntil = Math.max(process.pausedUntil, this.time + ms);
  }

  /** Lets events happen, one after the other, until `done`, or until nothing is left that could. */
  async run(done: () => boolean, until: number = Number.POSITIVE_INFINITY): Promise<void> {
    while (!done()) {
      const event = this.#pop(until);
      if (event === undefined) return;
      if (++this.#events > MOST_EVENTS) {
        this.violate(`no end after ${MOST_EVENTS} events`);
        return;
      }
      this.time = Math.max(this.time, event.at);
      this.current = event.owner;
      this.running = true;
      event.task();
      // A moment of a store or of the network settles no promise.
      if (event.kind !== "moment") await real.turn();
      this.running = false;
      this.current = undefined;
    }
  }

  get events(): number {
    return this.#events;
  }

  /** What living processes still wait for. */
  left(): readonly Event[] {
    return this.#queue.filter(({ cancelled, owner }) => !cancelled && owner?.alive === true);
  }

  #push(event: Event): void {
    const queue = this.#queue;
    let at = queue.length;
    queue.push(event);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = queue[above] as Event;
      if (!isBefore(event, parent)) break;
      queue[at] = parent;
      at = above;
    }
    queue[at] = event;
  }

  #pop(until: number): Event | undefined {
    for (;;) {
      const first = this.#queue[0];
      if (first === undefined || (first.at > until && !first.cancelled)) return undefined;
      this.#sink();
      if (first.cancelled || first.owner?.alive === false) continue;
      const wakesAt = first.owner?.pausedUntil ?? 0;
      if (wakesAt <= first.at) return first;
      // In the order in which it came: the process finds it all at once when it wakes.
      first.at = wakesAt;
      this.#push(first);
    }
  }

  #sink(): void {
    const queue = this.#queue;
    const last = queue.pop() as Event;
    const size = queue.length;
    if (size === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= size) break;
      if (below + 1 < size && isBefore(queue[below + 1] as Event, queue[below] as Event)) below++;
      const child = queue[below] as Event;
      if (!isBefore(child, last)) break;
      queue[at] = child;
      at = below;
    }
    queue[at] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at === other.at ? one.order < other.order : one.at < other.at;
}
