import { ErrorCode, isObject, RELATED_TASK, RpcError, VolleyError } from "../protocol/index.ts";
import { checkName, invalidParams, type Request, type Route } from "../server/index.ts";
import { outstanding } from "./data.ts";
import { isTerminal } from "./engine.ts";
import { findTask, type TaskMethods, takeResponses } from "./methods.ts";
import type { FoundTask } from "./records.ts";
import type { Watcher } from "./watch.ts";
import { inputRequestsOf } from "./wire.ts";

/**
 * The methods that SEP-2322 has beside `tasks/get` and `tasks/cancel`, for tasks that its clients asked for.
 *
 * @see https://modelcontextprotocol.io/seps/2322-MRTR
 */
export function createSepRoutes(
  methods: TaskMethods,
  watcher: Watcher,
): { readonly routes: ReadonlyMap<string, Route>; close(): void } {
  const { records, results } = methods;
  const closing = new Set<() => void>();
  const find = async (request: Request, id: unknown): Promise<FoundTask> => {
    if (typeof id !== "string") throw invalidParams("The id of a task is missing.");
    checkName(id, request.call.headers);
    const found = await findTask(methods, request, id);
    if (!found.data.sep) throw invalidParams("Task not found");
    return found;
  };

  /** Holds the request until the task asks something or has ended. */
  const settled = (id: string, request: Request): Promise<FoundTask> =>
    new Promise((resolve, reject) => {
      const close = (): void => fail(new VolleyError("closed", "The server is closing."));
      const stop = watcher.watch(id, (found) => {
        const { status, cancelRequested } = found.record;
        if (!isTerminal(status) && (cancelRequested || outstanding(found.data).length === 0)) return;
        end();
        resolve(found);
      });
      const end = (): void => {
        stop();
        closing.delete(close);
      };
      const fail = (error: Error): void => {
        end();
        reject(error);
      };
      closing.add(close);
      request.call.onAbort(fail);
    });

  const answer = (found: FoundTask): string => {
    const { record, data } = found;
    const related = { [RELATED_TASK]: { taskId: record.id } };
    switch (record.status) {
      case "completed": {
        const own = data.result?._meta;
        return results.render({ ...data.result, _meta: { ...(isObject(own) ? own : {}), ...related } });
      }
      case "failed": {
        const { code = ErrorCode.InternalError, message = "Internal error", data: detail } = data.error ?? {};
        throw new RpcError(code, message, detail);
      }
      case "cancelled":
        throw invalidParams("The task was cancelled and has no result.");
      default:
        return results.render({ resultType: "input_required", inputRequests: inputRequestsOf(found), _meta: related });
    }
  };

  const routes = new Map<string, Route>([
    [
      "tasks/result",
      {
        counted: false,
        async run(request) {
          const { record } = await find(request, request.params.taskId);
          return answer(await settled(record.id, request));
        },
      },
    ],
    [
      "tasks/input_response",
      {
        counted: true,
        async run(request) {
          const { params } = request;
          const related = isObject(params._meta) ? params._meta[RELATED_TASK] : undefined;
          const found = await find(request, isObject(related) ? related.taskId : undefined);
          await takeResponses(records, found, params.inputResponses);
          return results.render({ resultType: "complete", _meta: { [RELATED_TASK]: { taskId: found.record.id } } });
        },
      },
    ],
  ]);
  return {
    routes,
    close() {
      for (const close of closing) close();
    },
  };
}
