// volley-mcp/tasks: tools that go on as tasks, and the workers that run them.
//
//   createTasks     what `createServer({ tasks })` takes
//   createWorker    runs the tasks, in the server's process or in one of its own
//   TaskEngine      where tasks are kept and what wakes them; in volley-mcp/tasks/{sqlite,bullmq-redis,bullmq-postgres}
export type {
  CancelledTask,
  CompletedTask,
  DetailedTask,
  FailedTask,
  InputRequiredTask,
  SealedWrite,
  Task,
  TaskEngine,
  TaskHead,
  TaskRecord,
  TaskStatus,
  TaskStore,
  TasksOptions,
  TaskWaker,
  WakerLoop,
  WakerOptions,
  Worker,
  WorkerOptions,
  WorkingTask,
} from "./tasks/index.ts";
export { createTasks, createWorker, dueAt, isTerminal } from "./tasks/index.ts";
