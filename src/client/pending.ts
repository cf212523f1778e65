// Rounds by hand: a waiting round as an object, and as plain data that another process can go on with.
import {
  checkOptions,
  type InputRequests,
  type InputResponse,
  type InputResponses,
  VolleyError,
} from "../protocol/index.ts";
import { checkAnswer, type FormAnswer, type UrlAnswer } from "./answers.ts";
import type { ServerIdentity } from "./connection.ts";
import { targetOf, wireOf } from "./driver.ts";
import { CALL_OPTIONS } from "./option-names.ts";
import type { CallOptions, TaskData } from "./options.ts";
import { type PendingData, pendingDataOf, readPending } from "./pending-data.ts";
import {
  type Flow,
  play,
  type RoundMethod,
  type RoundResults,
  type Rounds,
  type Standing,
  type Waiting,
} from "./rounds.ts";
import { type TaskHandle, taskDataOf } from "./task.ts";

/** A call that is played by hand: finished, waiting for answers, or, for tools, gone on as a task. */
export type Started<M extends RoundMethod> =
  | { readonly done: true; readonly result: RoundResults[M]; readonly task?: undefined }
  | PendingRound<M>
  | (M extends "tools/call" ? StartedTask : never);

/** A call whose rounds are over, since it goes on as a task. */
export interface StartedTask {
  readonly done: true;
  readonly result?: undefined;
  readonly task: TaskHandle;
}

/** A call in whose middle the server wants something. No request is open; it may wait as long as the server's state is valid. */
export interface PendingRound<M extends RoundMethod = RoundMethod> {
  readonly done: false;
  readonly method: M;
  /** The tool's or prompt's name, the resource's URI. */
  readonly target: string;
  /** 1 for the questions of the first answer. */
  readonly round: number;
  /** Who asks. */
  readonly server: ServerIdentity;
  /** What is asked, by the server's keys; without a prototype. */
  readonly requests: InputRequests;
  /** The keys that have no answer yet. */
  readonly openKeys: readonly string[];
  /**
   * Answers one question: a form or a URL question as its handler would, sampling and roots in the protocol's shape.
   *
   * An answer may be given again before {@link PendingRound.continue}. Throws VolleyError `no_answer`, which says what is
   * wrong, when it cannot be used.
   */
  answer(key: string, answer: FormAnswer | UrlAnswer | InputResponse): void;
  /**
   * Sends the answers and plays on to the next question or the end. All keys have to be answered.
   *
   * May be called again when the request itself failed. When {@link isStateRefused} says that the state is no longer
   * accepted, only a new start can help.
   */
  continue(options?: CallOptions): Promise<Started<M>>;
  /** Plain data for {@link Client.resume}. It holds the arguments, the answers so far and the server's state: keep it as a secret. */
  toJSON(): PendingData;
}

/** What turns standings into what a caller by hand gets. */
export interface ByHand {
  readonly rounds: Rounds;
  readonly flow: Flow<RoundMethod>;
  task(data: TaskData, flow: Flow<RoundMethod>): TaskHandle;
}

/** Wraps where a flow stands. */
export function toStarted<M extends RoundMethod>(
  hand: ByHand & { readonly flow: Flow<M> },
  standing: Standing<M>,
): Started<M> {
  if (standing.type === "complete") return { done: true, result: standing.result };
  if (standing.type === "task") {
    const { rounds, flow } = hand;
    const data = taskDataOf(rounds, standing.task.taskId, targetOf(flow.params), wireOf(flow), flow.byHand ?? []);
    const started: StartedTask = { done: true, task: hand.task(data, flow) };
    return started as Started<M>;
  }
  return createPending(hand, standing.waiting, new Map());
}

function createPending<M extends RoundMethod>(
  hand: ByHand & { readonly flow: Flow<M> },
  waiting: Waiting,
  answered: Map<string, InputResponse>,
): PendingRound<M> {
  const { rounds, flow } = hand;
  const { requests, round } = waiting;
  const keys = Object.keys(requests);
  const openKeys = (): string[] => keys.filter((key) => !answered.has(key));

  function responses(): InputResponses {
    const given: InputResponses = Object.create(null);
    for (const key of keys) {
      const response = answered.get(key);
      if (response !== undefined) given[key] = response;
    }
    return given;
  }

  return {
    done: false,
    method: flow.method,
    target: targetOf(flow.params),
    round,
    server: rounds.connection.server(waiting.meta),
    requests,
    get openKeys() {
      return openKeys();
    },
    answer(key, answer) {
      const request = requests[key];
      if (request === undefined)
        throw new VolleyError(
          "invalid_options",
          `Nothing is asked by the key "${key}": the keys are ${keys.join(", ")}.`,
        );
      answered.set(key, checkAnswer(key, request, answer));
    },
    async continue(options = {}) {
      checkOptions("continue", options, CALL_OPTIONS);
      const open = openKeys();
      if (open.length > 0)
        throw new VolleyError("no_answer", `Answer all questions before going on; open: ${open.join(", ")}.`);
      const next = { ...hand, flow: { ...flow, options } };
      const before = {
        waiting,
        responses: keys.length === 0 ? undefined : responses(),
        endedAt: performance.now(),
      };
      return toStarted(next, await play(rounds, next.flow, before));
    },
    toJSON: () => pendingDataOf(rounds.connection, flow, waiting, responses()),
  };
}

/** Goes on with what {@link PendingRound.toJSON} gave; `flowOf` says what the client can do and how. */
export function resumePending(
  data: unknown,
  { rounds, task }: Pick<ByHand, "rounds" | "task">,
  flowOf: (data: PendingData) => Flow<RoundMethod>,
): PendingRound {
  const read = readPending(data);
  const requests: InputRequests = Object.assign(Object.create(null), read.requests);
  const { round, requestState } = read;
  rounds.connection.skipTo(read.lastId);
  const waiting = { round, requests, requestState, meta: undefined, repeats: 0 };
  const pending = createPending({ rounds, task, flow: flowOf(read) }, waiting, new Map());
  for (const [key, response] of Object.entries(read.inputResponses)) pending.answer(key, response);
  return pending;
}
