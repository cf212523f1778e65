import { base64url, canonicalJson, digest } from "../state/index.ts";
import type { Flow } from "./flow.ts";
import { keepUntil, reach } from "./once.ts";
import { type Responses, soundOnes } from "./responses.ts";

/**
 * Whether the presented state may be used with these answers: the first set that comes with it is the only one, and may
 * come again.
 *
 * The ledger's rule does it all: each round is an effect that rests on its answers and that nobody carries out, so its
 * lease is over at once and its answers are committed from then on.
 */
export async function mayUseState(flow: Flow, responses: Responses): Promise<boolean> {
  const { ledger, random, requireShared } = flow.services;
  requireShared?.();
  const round = String(flow.round);
  const answers = { [round]: digest(JSON.stringify([flow.id, canonicalJson(usable(flow, responses))])) };
  const { status } = await reach(() =>
    ledger.claim({
      // Not the row of the flow's own effects, whose names and keys are the author's.
      row: digest(JSON.stringify(["rounds", flow.id])),
      name: round,
      owner: base64url(random(16)),
      answers,
      deadline: flow.deadline,
      keepUntil: keepUntil(flow.deadline),
      leaseMs: 0,
      takeOver: true,
    }),
  );
  return status === "claimed";
}

/** Answers to open questions, which were checked when they were taken; where none is open, whatever a handler may read. */
function usable({ asked }: Flow, responses: Responses): Responses {
  if (asked.size === 0) return soundOnes(responses);
  const keys = [...asked.keys()].filter((key) => Object.hasOwn(responses, key));
  return Object.fromEntries(keys.map((key) => [key, responses[key]]));
}
