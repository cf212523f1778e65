import type { TaskStarter, TaskWish } from "../flow/index.ts";
import type { Route } from "./core.ts";
import type { Request } from "./methods.ts";
import type { Settings } from "./options.ts";
import type { Results } from "./results.ts";

/** What lets a server's tools go on as tasks. */
export interface TaskService {
  /** Joins the tasks to a server that is being made. */
  attach(settings: Settings, results: Results): AttachedTasks;
}

export interface AttachedTasks {
  readonly starter: TaskStarter;
  /** The methods of the extension. */
  readonly routes: ReadonlyMap<string, Route>;
  /** The task that a `tools/call` asks for itself, where the server takes such a wish. */
  wish(params: Readonly<Record<string, unknown>>): TaskWish | undefined;
  /**
   * What of a `subscriptions/listen` is about tasks; undefined when nothing is.
   *
   * @throws RpcError -32021 when its client does not declare that it follows tasks
   */
  watch(request: Request): Promise<TaskWatch | undefined>;
  /** Ends requests that wait for a task. */
  close(): void;
}

/** The tasks that one stream watches. */
export interface TaskWatch {
  /** Those that exist for its caller. */
  readonly taskIds: readonly string[];
  /** Calls back with each task's whole state, at once and whenever it changes; the returned function ends that. */
  start(changed: (taskId: string, task: Readonly<Record<string, unknown>>) => void): () => void;
}
