// The heart: what a handler gets, how its flow is carried from round to round.
export { systemClock } from "./clock.ts";
export type { Context, Elicit, FormQuestion, OnceOptions, Outcome, Winner, WorkScope } from "./context.ts";
export { defineFlow, FLOW_OPTIONS } from "./define.ts";
export { Cancelled, Conflict, Declined, type EffectDone, Failed, InDoubt, NotDone } from "./errors.ts";
export type { RoundServices } from "./flow.ts";
export { DEFAULT_TASK_TTL_MS, followsTasks, needsTasks } from "./hand-off.ts";
export { isInsideWork } from "./inside.ts";
export { createRounds, type Rounds } from "./rounds.ts";
export type { ResumedTask, TaskAsk, TaskKeeper, TaskOutcome, TaskState } from "./task-run.ts";
export type {
  ClientView,
  Clock,
  EffectOutcome,
  Exchange,
  FlowDefinition,
  FlowOptions,
  LoadMonitor,
  RoundReply,
  RoundRequest,
  TaskOptions,
  TaskStart,
  TaskStarter,
  TaskWish,
  Trace,
  TraceContext,
  TracedRound,
  TraceEvent,
} from "./types.ts";
