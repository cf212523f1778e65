import type { Flow } from "../run/flow.ts";
import type { Run } from "../run/run.ts";

const MOST_YIELDS = 2;

/** Rule 9: ends the round with a ticket, at most twice a flow and never without something new to carry; false: go on. */
export function endRound(run: Run, flow: Flow): boolean {
  if (!flow.yielded) {
    if (run.carrier !== undefined || !run.recorded || flow.yields >= MOST_YIELDS) return false;
    flow.yields++;
    flow.yielded = true;
  }
  run.wantTicket();
  return true;
}

/**
 * Leaves work that is about to begin to a later round, which another instance may get, when this one has too much to do.
 * Questions need no such look: without an answer they end the round anyway.
 */
export function shed(run: Run, flow: Flow): boolean {
  const { shedding, trace } = flow.services;
  if (shedding === undefined || !run.recorded || !shedding.overloaded()) return false;
  const first = !flow.yielded;
  if (!endRound(run, flow)) return false;
  if (first) trace?.({ type: "shed", within: flow.traced, target: flow.definition.name, round: flow.round });
  return true;
}
