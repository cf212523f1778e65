// Flows by our client: played by hand, so that every state can be kept, and rounds that failed are sent again.
import type { Client, PendingRound, RoundInfo, Started } from "../../src/client.ts";
import type { Counts } from "./counts.ts";
import { type Ending, insist, readEnding, readFailure, saysTryAgain } from "./ending.ts";
import { type Attempt, createPerson } from "./played.ts";
import type { Answers, FleetEvent } from "./schedule.ts";

type Step = Started<"tools/call">;

/** A waiting round as plain data, with its answers. */
export type Kept = ReturnType<PendingRound["toJSON"]>;

export interface Played {
  readonly ending: Ending;
  /** All waiting rounds of the flow, the first one first. */
  readonly kept: readonly Kept[];
  /** What came of the last round when it was sent twice. */
  readonly twin: Ending | undefined;
}

export async function playByHand(
  client: Client,
  attempt: Attempt,
  counts: Counts,
  over: (event: FleetEvent["type"]) => Promise<void>,
): Promise<Played> {
  const { plan, args } = attempt;
  const kept: Kept[] = [];
  let twin: Promise<Ending> | undefined;
  const options = { onRound: countRounds(counts) };
  const start = (): Promise<Step> => client.start("tools/call", { name: plan.tool, arguments: args }, options);
  const before = async (pending: PendingRound): Promise<void> => {
    kept.push(pending.toJSON());
    if (!Object.hasOwn(pending.requests, "sure")) return;
    if (plan.waitsFor !== undefined) await over(plan.waitsFor);
    if (plan.twin) twin = replay(client, pending.toJSON(), plan.answers, counts);
  };
  try {
    // A ticket is played on at once, and with it the effect: when that fails, its state is gone.
    const first = plan.tool === "ticket" ? await start() : await insist(start, wantsMore);
    const ending = await goOn(first, createPerson(plan.answers, counts), counts, before);
    return { ending, kept, twin: await twin };
  } catch (error) {
    return { ending: readFailure(error), kept, twin: await twin };
  }
}

/** Goes on from an old round with these answers. */
export async function replay(client: Client, kept: unknown, answers: Answers, counts: Counts): Promise<Ending> {
  counts.replays += 1;
  try {
    return await goOn(client.resume(kept) as PendingRound<"tools/call">, createPerson(answers, counts), counts);
  } catch (error) {
    return readFailure(error);
  }
}

async function goOn(
  first: Step,
  person: ReturnType<typeof createPerson>,
  counts: Counts,
  before?: (pending: PendingRound) => Promise<void>,
): Promise<Ending> {
  let step = first;
  while (!step.done) {
    const pending = step;
    for (const [key, request] of Object.entries(pending.requests)) {
      const { requestedSchema } = request.params as { readonly requestedSchema: { readonly properties: object } };
      pending.answer(key, { ...person(Object.keys(requestedSchema.properties)) });
    }
    await before?.(pending);
    step = await insist(() => pending.continue({ onRound: countRounds(counts) }), wantsMore);
  }
  return readEnding(step.result);
}

function wantsMore(step: Step): boolean {
  return step.done && saysTryAgain(step.result);
}

function countRounds(counts: Counts): (round: RoundInfo) => void {
  return ({ done, requests }) => {
    counts.rounds += 1;
    if (!done && Object.keys(requests).length === 0) counts.stateOnly += 1;
  };
}
