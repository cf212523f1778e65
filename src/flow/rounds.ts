import {
  ErrorCode,
  type InputRequests,
  type InputRequiredResult,
  isInputRequest,
  isObject,
  RpcError,
  VolleyError,
} from "../protocol/index.ts";
import { type Bound, StateRefused } from "../state/index.ts";
import { tellChangedNames } from "./changed-names.ts";
import type { Context } from "./context.ts";
import { Flow, type RoundServices, refusedState } from "./flow.ts";
import { handOff, startTask } from "./hand-off.ts";
import { type FlowBody, isFlowBody, type OpenQuestion } from "./journal.ts";
import type { OpenAsk } from "./outcome.ts";
import { looseAnswers, type Responses, readResponses, someKeys } from "./responses.ts";
import { Run } from "./run.ts";
import { RunContext } from "./run-context.ts";
import { mayUseState } from "./single-use.ts";
import { gate, takeAnswers } from "./take-answers.ts";
import { type ResumedTask, resumeTask, type TaskOutcome } from "./task-run.ts";
import { traceRound } from "./tracing.ts";
import type { FlowDefinition, RoundReply, RoundRequest, TaskOptions } from "./types.ts";

/** Plays rounds: opens what the client carried, runs the handler, seals what it must carry on. */
export interface Rounds {
  /**
   * Plays one round.
   *
   * @throws RpcError for what the client did wrong or cannot do; else whatever the handler threw
   */
  play(request: RoundRequest, definition: FlowDefinition, call: (ctx: Context) => unknown): Promise<RoundReply>;

  /** Begins a flow as a task: its handler runs in a worker from the first line. */
  start(request: RoundRequest, definition: FlowDefinition, options: TaskOptions): Promise<RoundReply>;

  /** Runs the handler of a task until it ends or can only go on with answers or time. */
  resume(task: ResumedTask, call: (ctx: Context) => unknown): Promise<TaskOutcome>;
}

/** The official clients stop after 10 rounds. */
const WARN_ROUND = 9;
const MOST_ROUNDS = 32;
const NO_ANSWERS = looseAnswers({});
/** A question asked so often is one that people do not understand, or cannot answer. */
const OFTEN = 4;

export function createRounds(services: RoundServices): Rounds {
  return {
    async play(request, definition, call) {
      const responses = readResponses(request.inputResponses);
      const { method, target, principal } = request;
      // Before the handler runs, which may change its arguments.
      const bound = services.sealer.bind({ method, target, arguments: request.arguments, principal });
      const flow =
        request.requestState === undefined
          ? beginFlow(services, request, definition, responses)
          : continueFlow(services, request, definition, responses, bound);
      if (definition.singleUse && flow.presented && !(await mayUseState(flow, responses ?? {}))) {
        throw refuse(services, request, "used");
      }
      const run = new Run(flow, request);
      return await traceRound<RoundReply>(flow, run, async (enter) => {
        const outcome = await run.play(() => enter(() => call(new RunContext(run, flow, responses))));
        switch (outcome.type) {
          case "threw":
            throw outcome.error;
          case "suspended":
            return suspend(flow, run, outcome.asks, request, bound);
          case "handed_off":
            return { type: "task", result: await handOff(flow, outcome.options, request) };
          case "returned":
            return isManual(outcome.value)
              ? returnManual(flow, outcome.value, request, bound)
              : { type: "complete", value: outcome.value };
        }
      });
    },

    async start(request, definition, options) {
      // Nobody was given a state of a flow that begins as a task.
      if (request.requestState !== undefined) throw refusedState();
      const flow = new Flow(definition, services, request.principal, undefined, NO_ANSWERS);
      return { type: "task", result: await startTask(flow, options, request) };
    },

    resume: (task, call) => resumeTask(services, task, call),
  };
}

function beginFlow(
  services: RoundServices,
  request: RoundRequest,
  definition: FlowDefinition,
  responses: Responses = {},
): Flow {
  const keys = someKeys(responses);
  if (keys.length > 0) services.trace?.({ type: "answers_without_state", target: definition.name, keys });
  return new Flow(definition, services, request.principal, undefined, looseAnswers(responses));
}

function continueFlow(
  services: RoundServices,
  request: RoundRequest,
  definition: FlowDefinition,
  responses: Responses | undefined,
  bound: Bound,
): Flow {
  let opened: { readonly body: FlowBody; readonly deadline: number };
  try {
    const { body, times, kid } = bound.open(request.requestState, services.clock.now(), definition.maxStateBytes);
    if (!isFlowBody(body)) throw new StateRefused("body");
    opened = { body, deadline: times.deadline };
    services.trace?.({ type: "state_opened", target: definition.name, kid, sealedAt: times.issuedAt });
  } catch (error) {
    throw error instanceof StateRefused ? refuse(services, request, error.reason, error.kid) : error;
  }
  if (opened.body.v < definition.version && definition.whenOlder === "refuse")
    throw refuse(services, request, "version");
  const flow = new Flow(definition, services, request.principal, opened, NO_ANSWERS);
  takeAnswers(flow, responses ?? {});
  return flow;
}

/** The precise reason is the operator's; the client hears the same whatever it is, unless a state of its own has expired. */
function refuse(services: RoundServices, request: RoundRequest, reason: string, kid?: string): RpcError {
  const { method, target } = request;
  const keys = kid === undefined ? {} : { kid, kids: services.keyring.kids };
  services.trace?.({ type: "state_refused", reason, method, target, ...keys });
  return reason === "expired" || reason === "deadline" ? expiredState() : refusedState();
}

/** Only who holds a state that was sealed for this very request gets here: its age is no secret from them. */
function expiredState(): RpcError {
  return new RpcError(
    ErrorCode.InvalidParams,
    "The request state has expired: the answers came too late. Start again without requestState and inputResponses.",
    { reason: "state_expired" },
  );
}

function suspend(flow: Flow, run: Run, asks: readonly OpenAsk[], request: RoundRequest, bound: Bound): RoundReply {
  const inputRequests: InputRequests = Object.create(null);
  const questions: OpenQuestion[] = [];
  for (const ask of asks) {
    inputRequests[ask.key] = ask.request;
    questions.push(run.questionOf(ask));
    tellAskedOften(flow, ask);
  }
  tellChangedNames(run, flow, asks);
  if (asks.length > 0) gate(inputRequests, request);
  return {
    type: "input_required",
    result: {
      resultType: "input_required",
      ...(asks.length > 0 ? { inputRequests } : {}),
      requestState: seal(flow, questions, undefined, bound),
    },
  };
}

function tellAskedOften(flow: Flow, { key, question }: OpenAsk): void {
  const times = question[2] + 1;
  if (times !== OFTEN) return;
  flow.services.trace?.({ type: "asked_often", within: flow.traced, target: flow.definition.name, key, times });
}

function seal(flow: Flow, questions: readonly OpenQuestion[], manualState: string | undefined, bound: Bound): string {
  const { definition, services, round, deadline } = flow;
  if (round > MOST_ROUNDS) {
    throw new VolleyError("round_limit", `A flow may take ${MOST_ROUNDS} rounds; this one has not ended by then.`);
  }
  if (round >= WARN_ROUND && services.development) {
    services.trace?.({ type: "many_rounds", target: definition.name, round });
  }
  const issuedAt = services.clock.now();
  const expiresAt = Math.min(issuedAt + definition.ttlMs, deadline);
  const body = flow.toBody(questions, manualState);
  return bound.seal(body, { issuedAt, expiresAt, deadline }, definition.maxStateBytes);
}

function isManual(value: unknown): value is InputRequiredResult {
  return isObject(value) && value.resultType === "input_required";
}

/** A handler that wrote the specification's own shape: the same gates, and its state sealed like any other. */
function returnManual(flow: Flow, value: InputRequiredResult, request: RoundRequest, bound: Bound): RoundReply {
  const { inputRequests, requestState, ...rest } = value;
  const where = `${flow.definition.kind} "${flow.definition.name}"`;
  const asks = Object.entries(inputRequests ?? {});
  for (const [key, ask] of asks) {
    if (!isInputRequest(ask)) {
      throw new VolleyError(
        "message_invalid",
        `${where} returned "${key}" in inputRequests, which is no elicitation/create, sampling/createMessage or roots/list request.`,
      );
    }
  }
  if (asks.length === 0 && requestState === undefined) {
    throw new VolleyError(
      "message_invalid",
      `${where} returned an InputRequiredResult with neither inputRequests nor requestState. Give at least one.`,
    );
  }
  if (asks.length > 0) gate(inputRequests ?? {}, request);
  // Without a state of its own there is nothing to carry, unless steps were recorded beside it.
  const carried = requestState !== undefined || flow.journal.entries.length > 0;
  return {
    type: "input_required",
    result: {
      ...rest,
      ...(asks.length > 0 && inputRequests !== undefined ? { inputRequests } : {}),
      ...(carried ? { requestState: seal(flow, [], requestState, bound) } : {}),
    },
  };
}
