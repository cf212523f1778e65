// The heart: what a handler gets, how its flow is carried from round to round.
export { systemClock } from "./api/clock.ts";
export type { Context, Elicit, FormQuestion, OnceOptions, Outcome, Winner, WorkScope } from "./api/context.ts";
export { defineFlow, FLOW_OPTIONS } from "./api/define.ts";
export { Cancelled, Conflict, Declined, type EffectDone, Failed, InDoubt, NotDone } from "./api/errors.ts";
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
} from "./api/types.ts";
export { DEFAULT_TASK_TTL_MS, followsTasks, needsTasks } from "./context/hand-off.ts";
export { createRounds, type Rounds } from "./rounds/rounds.ts";
export type { ResumedTask, TaskAsk, TaskKeeper, TaskOutcome, TaskState } from "./rounds/task-run.ts";
export type { RoundServices } from "./run/flow.ts";
export { isInsideWork } from "./run/inside.ts";
