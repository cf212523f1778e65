import { needsTasks, type TaskWish } from "../flow/index.ts";
import {
  checkOptions,
  isObject,
  META,
  needOption,
  type OptionNames,
  readSubscriptionFilter,
  VolleyError,
} from "../protocol/index.ts";
import { invalidParams, type Request, type TaskService, type TaskWatch } from "../server/index.ts";
import type { TaskEngine } from "./engine.ts";
import { traceFaults } from "./faults.ts";
import { createRoutes } from "./methods.ts";
import { declaresTasks, TaskRecords } from "./records.ts";
import { createSepRoutes } from "./sep.ts";
import { startTask, type TaskIds, taskIdOf } from "./starter.ts";
import { createWatcher } from "./watch.ts";
import { detailedTask, handleOf } from "./wire.ts";

export interface TasksOptions {
  /** Where tasks are kept: `createSqliteEngine` of volley-mcp/tasks/sqlite. */
  readonly engine: TaskEngine;
  /** How long a task is kept, from its creation, in milliseconds. Default 1 hour, at most 30 days. */
  readonly ttlMs?: number;
  /** How often clients should look, in milliseconds. Default 1,000. */
  readonly pollIntervalMs?: number;
  /** Also speaks the wire of SEP-2322 with clients that send `params.task`. Default false. */
  readonly sep2322?: boolean;
}

/** Tasks that one stream watches. */
const WATCHED = 1_000;

/**
 * Lets a server's tools go on as tasks, by `ctx.toTask()` or `task: "required"`. A worker has to run them: see
 * {@link createWorker}.
 *
 * @throws VolleyError `invalid_options`
 * @example
 * ```ts
 * const server = createServer({ name: "builds", version: "1.0.0", singleInstance: true, tasks: createTasks({ engine }) });
 * ```
 * @see https://github.com/modelcontextprotocol/ext-tasks
 */
export function createTasks(options: TasksOptions): TaskService {
  return createTasksWithIds(options, taskIdOf);
}

const OPTIONS: OptionNames<TasksOptions> = { engine: true, ttlMs: true, pollIntervalMs: true, sep2322: true };

/** With ids from elsewhere: for tests that hold whole messages against literal ones. Not public, since ids are secrets. */
export function createTasksWithIds(options: TasksOptions, idOf: TaskIds): TaskService {
  checkOptions("createTasks", options, OPTIONS);
  needOption("createTasks", options, "engine");
  const { engine, ttlMs, pollIntervalMs, sep2322 = false } = options;
  for (const [name, value] of Object.entries({ ttlMs, pollIntervalMs })) {
    if (value === undefined || (Number.isInteger(value) && value > 0)) continue;
    throw new VolleyError("invalid_options", `createTasks: ${name} must be a whole number of milliseconds above 0.`);
  }
  return {
    attach(settings, results) {
      traceFaults(engine, settings.trace);
      const records = new TaskRecords(engine, settings.keyring, settings.clock);
      const watcher = createWatcher(records);
      const methods = { records, results, sep: sep2322 };
      const sep = sep2322 ? createSepRoutes(methods, watcher) : undefined;
      return {
        starter: {
          async start(start) {
            return handleOf(await startTask(records, { idOf, ttlMs, pollIntervalMs }, settings, start));
          },
        },
        routes: new Map([...createRoutes(methods), ...(sep?.routes ?? [])]),
        wish: (params) => (sep2322 ? readWish(params.task) : undefined),
        watch: (request) => watchTasks(records, watcher, request),
        close() {
          sep?.close();
          watcher.close();
        },
      };
    },
  };
}

function readWish(task: unknown): TaskWish | undefined {
  if (task === undefined) return undefined;
  const ttl = isObject(task) ? task.ttl : null;
  if (ttl === undefined) return { ttlMs: undefined };
  if (Number.isInteger(ttl) && Number(ttl) > 0) return { ttlMs: Number(ttl) };
  throw invalidParams("params.task is an object; its ttl is a whole number of milliseconds where it is present");
}

async function watchTasks(
  records: TaskRecords,
  watcher: ReturnType<typeof createWatcher>,
  { params, meta, call }: Request,
): Promise<TaskWatch | undefined> {
  const ids = readSubscriptionFilter(params).taskIds;
  if (ids === undefined) return undefined;
  if (!declaresTasks(meta[META.clientCapabilities])) throw needsTasks();
  if (ids.length > WATCHED) throw invalidParams(`One stream watches at most ${WATCHED} tasks; open several.`);
  const found = await Promise.all([...new Set(ids)].map((id) => records.find(id, call.principal)));
  const taskIds = found.flatMap((task) => (task === undefined || task.data.sep ? [] : task.record.id));
  return {
    taskIds,
    start(changed) {
      const told = new Map<string, string>();
      const stops = taskIds.map((id) =>
        watcher.watch(id, (seen) => {
          const task = detailedTask(seen);
          const text = JSON.stringify(task);
          if (told.get(id) === text) return;
          told.set(id, text);
          changed(id, { ...task });
        }),
      );
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
