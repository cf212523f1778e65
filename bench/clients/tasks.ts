/**
 * The load of the benchmark of tasks, a process of its own: it answers `{ ms, inFlight }` with how many tasks it has
 * brought from their call over one answer to their end, by requests written by hand.
 */
import { Agent, request } from "node:http";
import { answerOf, call, expectThat, META, type Result, shot } from "../cases.ts";
import { text } from "../contestants/tools.ts";
import type { Shot } from "../lib/load.ts";

export interface TaskLoad {
  readonly tasks: number;
  readonly ms: number;
}

interface Task extends Result {
  readonly taskId: string;
  readonly status: string;
  readonly result?: Result;
}

const DIALECT = "2026-07-28";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
/** The load's client follows tasks. */
const _meta = {
  ...META,
  [CAPABILITIES]: { ...META[CAPABILITIES], extensions: { "io.modelcontextprotocol/tasks": {} } },
};
const { url } = JSON.parse(process.argv[2] ?? "{}") as { readonly url: string };
const agent = new Agent({ keepAlive: true });
let lastId = 0;

process.on("message", (asked: { readonly ms: number; readonly inFlight: number }) => {
  void run(asked.ms, asked.inFlight).then((load) => process.send?.(load));
});
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });

async function run(ms: number, inFlight: number): Promise<TaskLoad> {
  const begin = performance.now();
  let tasks = 0;
  const one = async (): Promise<void> => {
    while (performance.now() - begin < ms) {
      lastId += 1;
      await oneTask(lastId);
      tasks += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  return { tasks, ms: performance.now() - begin };
}

async function oneTask(id: number): Promise<void> {
  const { taskId } = await send(call(DIALECT, "resolve_bug", { id }, { _meta }));
  const task = follow(taskId);
  const asked = await task.until("input_required");
  expectThat(Object.keys(asked.inputRequests ?? {}).join() === "resolution", "the task asks", asked);
  await send(about(taskId, "tasks/update", { inputResponses: { resolution: answerOf("resolution") } }));
  const { result } = await task.until("completed");
  task.close();
  expectThat(result?.content?.[0]?.text === text.closed(id, "Duplicate"), `#${id} is closed`, result);
}

interface Followed {
  /** The task as soon as it has this status. */
  until(status: string): Promise<Task>;
  close(): void;
}

/** Hears of a task's changes on a stream of its own: looking at it again and again would cost more than the task. */
function follow(taskId: string): Followed {
  const seen = new Map<string, Task>();
  let waiting: { readonly status: string; resolve(task: Task): void; reject(error: Error): void } | undefined;
  const tell = (): void => {
    const task = seen.get(waiting?.status ?? "");
    if (task !== undefined) waiting?.resolve(task);
  };
  let unread = "";
  const { headers, body } = shot(DIALECT, "subscriptions/listen", { _meta, notifications: { taskIds: [taskId] } });
  const options = { method: "POST", agent, headers: { ...headers, "Content-Length": Buffer.byteLength(body) } };
  const sent = request(url, options, (response) => {
    response.setEncoding("utf8");
    response
      .on("error", () => undefined)
      .on("data", (chunk: string) => {
        const lines = (unread + chunk).split("\n");
        unread = lines.pop() ?? "";
        for (const line of lines) {
          if (!line.startsWith("data: ")) continue;
          const { method, params } = JSON.parse(line.slice(6)) as { readonly method?: string; readonly params: Task };
          if (method !== "notifications/tasks") continue;
          seen.set(params.status, params);
          tell();
        }
      });
  });
  sent.on("error", (error) => waiting?.reject(error)).end(body);
  return {
    until: (status) =>
      new Promise((resolve, reject) => {
        waiting = { status, resolve, reject };
        tell();
      }),
    close: () => sent.destroy(),
  };
}

/** A request about a task; its id stands in the header that otherwise has a tool's name. */
function about(taskId: string, method: string, more: Record<string, unknown> = {}): Shot {
  const { headers, body } = shot(DIALECT, method, { _meta, taskId, ...more });
  return { headers: { ...headers, "Mcp-Name": taskId }, body };
}

function send({ headers, body }: Shot): Promise<Task> {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", agent, headers: { ...headers, "Content-Length": Buffer.byteLength(body) } };
    const sent = request(url, options, (response) => {
      let json = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        json += chunk;
      });
      response.on("error", reject).on("end", () => {
        const { result } = JSON.parse(json) as { readonly result?: Task };
        if (result === undefined) reject(new Error(`${url} answered ${json}`));
        else resolve(result);
      });
    });
    sent.on("error", reject).end(body);
  });
}
