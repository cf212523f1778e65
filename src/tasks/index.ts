// Tasks: the same handler with its journal in a durable store.
export { createTasks, type TasksOptions } from "./create.ts";
export {
  dueAt,
  isTerminal,
  type TaskEngine,
  type TaskRecord,
  type TaskStore,
  type TaskWaker,
  type WakerLoop,
} from "./engine.ts";
export { createLocalWaker } from "./local-waker.ts";
export type {
  CancelledTask,
  CompletedTask,
  DetailedTask,
  FailedTask,
  InputRequiredTask,
  Task,
  TaskStatus,
  WorkingTask,
} from "./types.ts";
export { createWorker, type Worker, type WorkerOptions } from "./worker.ts";
