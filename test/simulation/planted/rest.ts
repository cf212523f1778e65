// Faults in front of the library, in how it is set up, and in its classes.
import { Journal } from "../../../src/flow/journal.ts";
import { RunContext } from "../../../src/flow/run-context.ts";
import { isObject } from "../../../src/protocol/index.ts";
import type { Planted, RequestMessage } from "../planted.ts";

let orders = 0;

/** Replaces a method of a class; the returned function puts it back. */
function replace<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  make: (original: T[K]) => T[K],
): () => void {
  const original = prototype[name];
  prototype[name] = make(original);
  return () => {
    prototype[name] = original;
  };
}

function crossed(message: RequestMessage): RequestMessage {
  const { params } = message;
  const responses = params.inputResponses;
  if (!isObject(responses) || Object.keys(responses).length < 2) return message;
  const keys = Object.keys(responses);
  const inputResponses = Object.fromEntries(
    keys.map((key, at) => [key, responses[keys[(at + 1) % keys.length] as string]]),
  );
  return { ...message, params: { ...params, inputResponses } };
}

export const REST: readonly Planted[] = [
  { name: "a principal that is not in the bind", forgetsCallers: true },
  { name: "answers of another key", request: crossed, shapes: ["all", "race-of-questions", "task-of-all"] },
  { name: "keys that are taken away too early", rotatesTooFast: true },
  {
    name: "an expired state that is accepted, by a clock that stands still",
    server: (options, process, world) => {
      const now = world.now(process);
      return options.clock === undefined ? options : { ...options, clock: { ...options.clock, now: () => now } };
    },
  },
  {
    name: "timers that are not taken back",
    server: (options) => {
      const { clock } = options;
      if (clock === undefined) return options;
      const after: typeof clock.after = (ms, task) => {
        const again = (): void => {
          clock.after(ms, again);
        };
        again();
        return clock.after(ms, task);
      };
      return { ...options, clock: { ...clock, after } };
    },
  },
  {
    name: "a claim before the ticket, by a front that plays tickets itself",
    shapes: ["once-first"],
    playsTickets: true,
  },
  {
    name: "a retry that takes a new order",
    patch: () =>
      replace(RunContext.prototype, "once", (original) => {
        const once = original as (name: string, options: object, effect: unknown) => Promise<unknown>;
        return function (this: RunContext, name: string, ...rest: unknown[]) {
          const [options, effect] = rest.length === 1 ? [{}, rest[0]] : rest;
          return once.call(this, name, { ...(options as object), key: `try-${++orders}`, keepFor: 60_000 }, effect);
        } as typeof original;
      }),
  },
  {
    name: "an effect in a step",
    patch: () =>
      replace(RunContext.prototype, "once", () => {
        return function (this: RunContext, name: string, ...rest: unknown[]) {
          return this.step(name, rest.at(-1) as never);
        } as RunContext["once"];
      }),
  },
  {
    name: "an idempotency key that is another each time",
    shapes: ["recover", "recover-again"],
    patch: () =>
      replace(RunContext.prototype, "once", (original) => {
        const once = original as (name: string, options: object, effect: unknown) => Promise<unknown>;
        const other = (work: unknown) => (scope: object) =>
          (work as (scope: object) => unknown)({ ...scope, idempotencyKey: `key-${++orders}` });
        return function (this: RunContext, name: string, options: { recover: unknown }, effect: unknown) {
          return once.call(this, name, { ...options, recover: other(options.recover) }, other(effect));
        } as typeof original;
      }),
  },
  {
    name: "the order of arrivals is lost in the journal",
    shapes: ["race-of-questions", "race-of-steps", "race-of-question-and-step", "task-of-all"],
    patch: () => {
      const groups = Object.getOwnPropertyDescriptor(Journal.prototype, "groups") as PropertyDescriptor;
      const get = function (this: Journal): unknown {
        return [((groups.get?.call(this) ?? []) as unknown[][]).flat().reverse()];
      };
      Object.defineProperty(Journal.prototype, "groups", { ...groups, get });
      return () => void Object.defineProperty(Journal.prototype, "groups", groups);
    },
  },
  {
    name: "an answer that is lost on the way into the journal",
    patch: () =>
      replace(Journal.prototype, "add", (original) => {
        return function (this: Journal, entry: readonly string[], overlaps: boolean) {
          const found = original.call(this, entry as never, overlaps);
          if (entry[0] === "a" && this.groups.length > 0 && ++orders % 3 === 0) this.remove(found);
          return found;
        } as typeof original;
      }),
  },
];
