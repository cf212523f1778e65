import { ErrorCode, RpcError, VolleyError } from "../protocol/index.ts";
import { type ContextPromise, never, settled } from "./context-promise.ts";
import type { Flow } from "./flow.ts";
import type { Run } from "./run.ts";
import type { TaskOptions } from "./types.ts";

/** The extension by which a client says that it can follow tasks. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Ends the request-carried part of a flow. An effect: the flow must be known to its client first, as for `once`. */
export function toTask(run: Run, flow: Flow, options: TaskOptions): ContextPromise<void> {
  if (run.begin("u", "toTask") === undefined) return never();
  if (run.carrier !== undefined) return settled(undefined);
  const { definition, services } = flow;
  if (definition.kind !== "tool" || services.tasks === undefined || definition.answersWithoutState === "accept") {
    throw new VolleyError(
      "context_misused",
      `${definition.kind} "${definition.name}" cannot become a task: that needs a tool, a server with a task engine ` +
        '(createTasks of volley-mcp/tasks), and no `answersWithoutState: "accept"`.',
    );
  }
  const { extensions } = run.request.client.capabilities;
  if (extensions === undefined || !Object.hasOwn(extensions, TASKS_EXTENSION)) {
    if (options.fallback === "inline") return settled(undefined);
    throw new RpcError(
      ErrorCode.MissingRequiredClientCapability,
      "This tool goes on as a task, which the client does not declare it can follow.",
      { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    );
  }
  if (flow.presented) run.handOff(options);
  else run.wantTicket();
  return never();
}
