import { needsTasks } from "../flow/index.ts";
import { checkJson, isObject, META } from "../protocol/index.ts";
import { checkName, invalidParams, type Request, type Results, type Route } from "../server/index.ts";
import { outstanding } from "./data.ts";
import { isTerminal } from "./engine.ts";
import { declaresTasks, type Edited, type FoundTask, type TaskRecords } from "./records.ts";
import { isTooLarge } from "./sealed.ts";
import { cancelledBy, statusOf } from "./session.ts";
import { detailedTask, sepTask } from "./wire.ts";

/** What the methods of tasks work with. */
export interface TaskMethods {
  readonly records: TaskRecords;
  readonly results: Results;
  /** Tasks of SEP-2322 are answered too, whose clients declare no extension. */
  readonly sep: boolean;
}

/** @see https://github.com/modelcontextprotocol/ext-tasks */
export function createRoutes(methods: TaskMethods): ReadonlyMap<string, Route> {
  const { records, results } = methods;
  const acknowledged = results.render({ resultType: "complete" });
  return new Map<string, Route>([
    [
      "tasks/get",
      {
        counted: false,
        async run(request) {
          const found = await findTask(methods, request, readTaskId(request));
          const task = found.data.sep ? sepTask(found) : detailedTask(found);
          return results.render({ resultType: "complete", ...task });
        },
      },
    ],
    [
      "tasks/update",
      {
        counted: true,
        async run(request) {
          const found = await findTask(methods, request, readTaskId(request));
          await takeResponses(records, found, request.params.inputResponses);
          return acknowledged;
        },
      },
    ],
    [
      "tasks/cancel",
      {
        counted: false,
        async run(request) {
          const found = await findTask(methods, request, readTaskId(request));
          await records.change(found.record.id, (now) => cancelled(now, records.clock.now()), found);
          return acknowledged;
        },
      },
    ],
  ]);
}

function readTaskId({ params, call }: Request): string {
  const { taskId } = params;
  if (typeof taskId !== "string") throw invalidParams("params.taskId is required, a task's id");
  checkName(taskId, call.headers);
  return taskId;
}

/** @throws RpcError -32021 without the extension, -32602 for what is not this caller's task */
export async function findTask(methods: TaskMethods, request: Request, id: string): Promise<FoundTask> {
  const declared = declaresTasks(request.meta[META.clientCapabilities]);
  if (!declared && !methods.sep) throw needsTasks();
  const found = await methods.records.find(id, request.call.principal);
  if (!declared && found?.data.sep !== true) throw needsTasks();
  if (found === undefined) throw invalidParams("Task not found");
  return found;
}

/** T3: answers to open questions are taken, one by one; all others are ignored. */
export async function takeResponses(records: TaskRecords, found: FoundTask, responses: unknown): Promise<void> {
  if (!isObject(responses)) throw invalidParams("params.inputResponses is required, an object");
  const { id } = found.record;
  const take = ({ record, data }: FoundTask): Edited | undefined => {
    const answers = new Map(data.answers);
    for (const [wire] of outstanding(data)) {
      if (!Object.hasOwn(responses, wire)) continue;
      const response = responses[wire];
      if (!isObject(response)) throw invalidParams(`inputResponses: the answer to "${wire}" must be an object.`);
      checkJson(response);
      answers.set(wire, response);
    }
    if (answers.size === data.answers.size) return undefined;
    const next = { ...data, answers };
    // While a worker has the task, its session looks for them.
    const wakeAt = record.leaseUntil === null ? records.clock.now() : record.wakeAt;
    return { head: { status: statusOf(next), wakeAt }, data: next };
  };
  const taken = await records.change(id, take, found).catch((error: unknown) => {
    throw isTooLarge(error) ? invalidParams("inputResponses: this task cannot keep that much.") : error;
  });
  if (taken !== undefined) await records.engine.waker.wake(id).catch(() => undefined); // sweeps find it too
}

function cancelled({ record, data }: FoundTask, now: number): Edited | undefined {
  if (isTerminal(record.status)) return undefined;
  if (record.leaseUntil !== null && record.leaseUntil > now) return { head: { cancelRequested: true } };
  return cancelledBy(data);
}
