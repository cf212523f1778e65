import type { Clock, TaskStarter, Trace } from "../flow/index.ts";
import type { Keyring } from "../state/index.ts";
import type { TaskWishes } from "./calls/prepare.ts";
import type { Results } from "./catalog/results.ts";
import type { TaskWatch } from "./changes/listen.ts";
import type { Request, Route } from "./message/request.ts";

/** How many tasks a server keeps. */
export interface TaskLimits {
  /** Tasks that have neither ended nor expired, for each verified user; all instances count together. Default 1,000. */
  readonly liveTasks?: number;
  /** The same for all anonymous callers together. Default 10,000. */
  readonly anonymousLiveTasks?: number;
}

/** What tasks need of the server that they are attached to. */
export interface TaskSettings {
  readonly limits: Required<TaskLimits>;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly trace: Trace;
}

/** What lets a server's tools go on as tasks. */
export interface TaskService {
  /** Joins the tasks to a server that is being made. */
  attach(settings: TaskSettings, results: Results): AttachedTasks;
}

export interface AttachedTasks extends TaskWishes {
  readonly starter: TaskStarter;
  /** The methods of the extension. */
  readonly routes: ReadonlyMap<string, Route>;
  /**
   * What of a `subscriptions/listen` is about tasks; undefined when nothing is.
   *
   * @throws RpcError -32021 when its client does not declare that it follows tasks
   */
  watch(request: Request): Promise<TaskWatch | undefined>;
  /** Ends requests that wait for a task. */
  close(): void;
}
