import {
  type InputRequest,
  type InputRequests,
  isObject,
  missingCapabilities,
  VolleyError,
} from "../protocol/index.ts";
import { digest } from "../state/index.ts";
import type { Context } from "./context.ts";
import { Flow, type RoundServices, refusedState } from "./flow.ts";
import { isFlowBody, type OpenQuestion } from "./journal.ts";
import type { OpenAsk } from "./outcome.ts";
import { Run } from "./run.ts";
import { RunContext } from "./run-context.ts";
import { gate, takeAnswers } from "./take-answers.ts";
import { traceRound } from "./tracing.ts";
import type { FlowDefinition, RoundRequest } from "./types.ts";

/** A question that a task waits for; plain JSON. */
export interface TaskAsk {
  /** The author's key. */
  readonly key: string;
  /** The same as long as it is the same question asked for the same time: key, author's question, try. */
  readonly identity: string;
  readonly request: InputRequest;
  readonly question: OpenQuestion;
  /** Why it was asked again, or "". */
  readonly reason: string;
}

/** What a task knows between its runs; plain JSON. */
export interface TaskState {
  readonly body: unknown;
  readonly asks: readonly TaskAsk[];
}

/** Keeps a task's state while it runs. */
export interface TaskKeeper {
  /** Makes the state durable; rejects when the task is not this run's any more, which ends the run. */
  save(state: TaskState): Promise<void>;
  /** Questions were opened or withdrawn, and may be published while steps go on. */
  publish(state: TaskState): void;
  /** Undefined while the task is surely this run's; else as `save`. No work begins without it. */
  hold(): Promise<void> | undefined;
  /** Calls back with answers that come while the run goes on. A later state has the ask of each, or the answer in its journal. */
  onAnswers?(listener: (answers: Readonly<Record<string, unknown>>) => void): void;
}

export interface ResumedTask {
  readonly request: RoundRequest;
  readonly definition: FlowDefinition;
  readonly state: TaskState;
  /** What has come for the asks of the state, by author's key. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Effects are refused after this moment. */
  readonly deadline: number;
  readonly keeper: TaskKeeper;
}

export type TaskOutcome =
  | { readonly type: "returned"; readonly value: unknown }
  | { readonly type: "threw"; readonly error: unknown }
  | { readonly type: "suspended"; readonly state: TaskState; readonly wakeAt: number | undefined };

/** How soon a task looks again when an effect is still running elsewhere. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Runs a task's handler on from its journal.
 *
 * @throws RpcError -32021 for a question that the client cannot answer, -32602 for a journal that cannot be continued
 */
export async function resumeTask(
  services: RoundServices,
  task: ResumedTask,
  call: (ctx: Context) => unknown,
): Promise<TaskOutcome> {
  const { request, definition, keeper, answers } = task;
  const { body } = task.state;
  if (!isFlowBody(body) || (body.v < definition.version && definition.whenOlder === "refuse")) throw refusedState();
  const answered = task.state.asks.filter(({ key }) => Object.hasOwn(answers, key));
  const standing = new Map(task.state.asks.filter((ask) => !answered.includes(ask)).map((ask) => [ask.key, ask]));
  const opened = { body: { ...body, q: answered.map(({ question }) => question) }, deadline: task.deadline };
  const flow = new Flow(definition, services, request.principal, opened, new Map(), standing);
  takeAnswers(flow, answers);

  const stateNow = (): TaskState => {
    // What this run has not come to yet is still asked.
    const waiting = [...standing.values()].filter(({ key }) => !run.hasUsed("a", key));
    const asks = run.asks.filter((ask) => mayAsk(ask, request)).map((ask) => toTaskAsk(run, ask));
    return { body: flow.toBody([], undefined), asks: [...waiting, ...asks] };
  };
  const carrier = {
    save: () => keeper.save(stateNow()),
    asksChanged: () => keeper.publish(stateNow()),
    hold: () => keeper.hold(),
  };
  const run = new Run(flow, request, carrier);
  keeper.onAnswers?.((more) => {
    for (const [key, response] of Object.entries(more)) run.take(key, response);
  });
  // Answers are settled before anything rests on them.
  if (answered.length > 0) await keeper.save(stateNow());
  return await traceRound<TaskOutcome>(flow, run, async (enter) => {
    const outcome = await run.play(() => enter(() => call(new RunContext(run, flow))));
    switch (outcome.type) {
      case "threw":
        return outcome;
      case "returned":
        return isObject(outcome.value) && outcome.value.resultType === "input_required"
          ? { type: "threw", error: manual(definition) }
          : outcome;
      case "suspended": {
        const inputRequests: InputRequests = Object.create(null);
        for (const ask of outcome.asks) inputRequests[ask.key] = ask.request;
        gate(inputRequests, request);
        const state = { body: flow.toBody([], undefined), asks: outcome.asks.map((ask) => toTaskAsk(run, ask)) };
        // Neither asked nor timed: an effect runs elsewhere, and nobody says when it has ended.
        const lookAt = outcome.asks.length === 0 ? services.clock.now() + LOOK_AGAIN_MS : undefined;
        return { type: "suspended", state, wakeAt: outcome.wakeAt ?? lookAt };
      }
      case "handed_off":
        throw new Error("A task was handed off, which toTask never does with a carrier.");
    }
  });
}

/** S6 holds in a task too: by what the client declared when it was made. */
function mayAsk(ask: OpenAsk, request: RoundRequest): boolean {
  return missingCapabilities({ [ask.key]: ask.request }, request.client.capabilities) === undefined;
}

function toTaskAsk(run: Run, ask: OpenAsk): TaskAsk {
  const [key, , tries] = ask.question;
  return {
    key,
    identity: digest(JSON.stringify([key, ask.author, tries])),
    request: ask.request,
    question: run.questionOf(ask),
    reason: ask.reason,
  };
}

function manual({ name }: FlowDefinition): VolleyError {
  return new VolleyError(
    "context_misused",
    `Tool "${name}" returned an InputRequiredResult in a task. Ask with \`ctx.elicit\` and its like there.`,
  );
}
