// Playing all rounds of a call, with handlers for the questions.
import { VolleyError } from "../../protocol/index.ts";
import { untilEnded } from "../connection/pause.ts";
import { type AskHandlers, answerAll } from "../questions/asks.ts";
import type { RoundMethod, RoundResults } from "../results/results.ts";
import { taskDataOf } from "../tasks/data.ts";
import { type Flow, type Rounds, type Standing, targetOf, type Waiting, wireOf } from "./flow.ts";
import { pendingDataOf, withPending } from "./pending-data.ts";
import { play } from "./rounds.ts";

/**
 * Plays a flow to its end, or on to it from where it stands: asks the handlers what the server asks, and brings their
 * answers back, round after round.
 *
 * No request is open while somebody thinks.
 */
export async function drive<M extends RoundMethod>(
  rounds: Rounds,
  handlers: AskHandlers,
  flow: Flow<M>,
  first?: Standing<M>,
): Promise<RoundResults[M]> {
  let standing = first ?? (await play(rounds, flow));
  while (standing.type === "waiting") {
    const { waiting } = standing;
    const endedAt = performance.now();
    const responses = await answerRound(rounds, handlers, flow, waiting);
    standing = await play(rounds, flow, { waiting, responses, endedAt });
  }
  if (standing.type === "complete") return standing.result;
  const { capabilities, options, params } = flow;
  const { task } = standing;
  // Most calls never become a task.
  const { followTask } = await import("../tasks/follow.ts");
  const result = await followTask(rounds, handlers, {
    handle: taskDataOf(rounds.connection, task.taskId, targetOf(params), wireOf(flow), []),
    capabilities,
    options: { cancelOnAbort: true, ...options },
    seed: task,
    byHand: [],
    answered: new Set(),
  });
  // Only the call of a tool becomes a task.
  return result as RoundResults[M];
}

async function answerRound<M extends RoundMethod>(
  rounds: Rounds,
  handlers: AskHandlers,
  flow: Flow<M>,
  waiting: Waiting,
): ReturnType<typeof answerAll> {
  const { connection } = rounds;
  const { signal } = flow.options;
  const ending = new AbortController();
  const work = answerAll(waiting.requests, handlers, {
    server: connection.server(waiting.meta),
    call: { method: flow.method, target: targetOf(flow.params) },
    round: waiting.round,
    signal: ending.signal,
  });
  try {
    return await untilEnded(work, signal, connection.closing);
  } catch (error) {
    // Whoever still shows a question of this round can take it away.
    ending.abort(error);
    throw VolleyError.is(error) ? withPending(error, pendingDataOf(connection, flow, waiting)) : error;
  }
}
