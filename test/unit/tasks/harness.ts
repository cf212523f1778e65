// A server with tasks in a file, and what a client of the extension would ask it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { vi } from "vitest";
import { systemClock } from "../../../src/flow/index.ts";
import { type Clock, createServer, type Principal, type Server, type ServerOptions } from "../../../src/index.ts";
import { coreOf } from "../../../src/server/index.ts";
import { createTasksWithIds } from "../../../src/tasks/create.ts";
import { createSqliteEngine } from "../../../src/tasks/sqlite.ts";
import { type TaskIds, taskIdOf } from "../../../src/tasks/starter.ts";
import { createWorker, type TaskEngine, type TasksOptions, type Worker } from "../../../src/tasks.ts";
import { message } from "../../spec/http-entry.ts";
import { MemoryCall } from "../server/memory-call.ts";

/** Node 20 has no node:sqlite. */
export const hasSqlite: boolean = process.getBuiltinModule?.("node:sqlite") !== undefined;

export const KEY = "vk1_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
export const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } } as const;
export const ALL = { elicitation: { form: {}, url: {} }, ...TASKS } as const;

/** A clock that is so much ahead. */
export function laterBy(offset: { ms: number }): Clock {
  return { ...systemClock, now: () => Date.now() + offset.ms };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
type Any = any;

export interface Rig extends AsyncDisposable {
  readonly server: Server;
  readonly engine: TaskEngine;
  readonly path: string;
  worker: Worker | undefined;
  startWorker(options?: { leaseMs?: number; sweepMs?: number; concurrency?: number }): Promise<Worker>;
  /** The whole response. */
  ask(method: string, params?: object, options?: { can?: object; principal?: Principal; meta?: object }): Promise<Any>;
  /** Calls a tool; the result. */
  call(name: string, args?: object, more?: object): Promise<Any>;
  get(taskId: string): Promise<Any>;
  update(taskId: string, inputResponses: object): Promise<Any>;
  cancel(taskId: string): Promise<Any>;
  /** Waits until the task has this status; the whole task. */
  until(taskId: string, status: string): Promise<Any>;
}

/** One more server on the file of another rig is a restart of it. */
export async function rig(
  register: (server: Server) => void,
  options: {
    readonly tasks?: Partial<TasksOptions>;
    /** The id of a flow's task. Default: as in production. */
    readonly idOf?: TaskIds;
    readonly server?: Partial<ServerOptions>;
    readonly path?: string;
    /** Another than one in a file; closed with the rig. */
    readonly engine?: TaskEngine;
    readonly worker?: false | { leaseMs?: number; sweepMs?: number };
  } = {},
): Promise<Rig> {
  const folder = options.path === undefined ? mkdtempSync(join(tmpdir(), "volley-tasks-")) : undefined;
  const path = options.path ?? join(folder ?? "", "tasks.db");
  const engine = options.engine ?? createSqliteEngine({ path });
  const server = createServer({
    name: "test",
    version: "1.0.0",
    keys: [KEY],
    trace: () => undefined,
    tasks: createTasksWithIds({ engine, ...options.tasks }, options.idOf ?? taskIdOf),
    ...options.server,
  });
  register(server);
  const ask: Rig["ask"] = async (method, params = {}, { can = ALL, principal, meta = {} } = {}) => {
    const call = new MemoryCall();
    if (principal) call.principal = principal;
    const body = message(method, { ...params }, { "io.modelcontextprotocol/clientCapabilities": can, ...meta });
    const reply = await coreOf(server).handle(body, call);
    return JSON.parse(reply.body as string);
  };
  const result = async (method: string, params: object): Promise<Any> => {
    const response = await ask(method, params);
    if (response.error) throw new Error(JSON.stringify(response.error));
    return response.result;
  };
  const made: Rig = {
    server,
    engine,
    path,
    worker: undefined,
    async startWorker(workerOptions = {}) {
      made.worker = await createWorker(server, { engine, sweepMs: 50, ...workerOptions });
      return made.worker;
    },
    ask,
    call: (name, args = {}, more = {}) => result("tools/call", { name, arguments: args, ...more }),
    get: (taskId) => result("tasks/get", { taskId }),
    update: (taskId, inputResponses) => result("tasks/update", { taskId, inputResponses }),
    cancel: (taskId) => result("tasks/cancel", { taskId }),
    until: (taskId, status) =>
      vi.waitFor(
        async () => {
          const task = await result("tasks/get", { taskId });
          if (task.status !== status) throw new Error(`it is ${JSON.stringify(task)}`);
          return task;
        },
        { timeout: 15_000, interval: 20 },
      ),
    async [Symbol.asyncDispose]() {
      await made.worker?.close(1_000);
      await server.close(100);
      await engine.close();
      if (folder) rmSync(folder, { recursive: true, force: true });
    },
  };
  if (options.worker !== false) await made.startWorker(options.worker ?? {});
  return made;
}
