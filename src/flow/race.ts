import { VolleyError } from "../protocol/index.ts";
import { Contestant } from "./call.ts";
import type { Winner } from "./context.ts";
import { type ContextPromise, defer } from "./context-promise.ts";
import { inside } from "./inside.ts";
import type { Run } from "./run.ts";

/** Runs functions beside one another until the first has ended, then withdraws what the others have opened. */
export function race<C extends Readonly<Record<string, () => unknown>>>(
  run: Run,
  contestants: C,
): ContextPromise<Winner<C>> {
  const call = run.begin("u", "race");
  if (call === undefined) return run.refuse("race");
  const sides = Object.entries(contestants ?? {});
  if (sides.length === 0 || sides.some(([, side]) => typeof side !== "function")) {
    throw new VolleyError(
      "context_misused",
      "race takes functions by name, at least one: `ctx.race({ answer: () => ctx.elicit(...), limit: () => ctx.sleep(...) })`.",
    );
  }
  const ends = defer<Winner<C>>();
  const all = sides.map(() => new Contestant(call.contestant));
  let decided = false;
  const decide = (winner: Contestant, settle: () => void): void => {
    if (decided || run.closed || winner.lost) return;
    decided = true;
    for (const contestant of all) if (contestant !== winner) contestant.lose();
    run.withdraw(all.filter((contestant) => contestant !== winner));
    settle();
  };
  sides.forEach(([name, side], index) => {
    const contestant = all[index] as Contestant;
    const playing = inside.run({ run, contestant }, async () => await side());
    playing.then(
      (value) => decide(contestant, () => ends.resolve({ winner: name, value } as Winner<C>)),
      (error: unknown) => decide(contestant, () => ends.reject(error)),
    );
  });
  return run.hand("race", ends.promise);
}
