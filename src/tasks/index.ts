// Tasks: the same handler with its journal in a durable store.
export type {
  CancelledTask,
  CompletedTask,
  DetailedTask,
  FailedTask,
  InputRequiredTask,
  Task,
  TaskStatus,
  WorkingTask,
} from "../protocol/index.ts";
export { createTasks, type TasksOptions } from "./create.ts";
export {
  dueAt,
  isTerminal,
  type SealedWrite,
  type TaskEngine,
  type TaskHead,
  type TaskRecord,
  type TaskStore,
  type TaskWaker,
  type WakerLoop,
  type WakerOptions,
} from "./engine.ts";
export { createWorker, type Worker, type WorkerOptions } from "./worker.ts";
