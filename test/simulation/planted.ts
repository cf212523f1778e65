// The seam by which faults are planted: what of a fleet they may replace, all of it from outside.
import type { ServerOptions, TaskService } from "../../src/server/index.ts";
import type { TaskEngine } from "../../src/tasks/index.ts";
import type { ModelLedger } from "./model-ledger.ts";
import type { ModelTasks } from "./model-tasks.ts";
import type { Process, World } from "./world.ts";

/** A fault as somebody might write it. */
export interface Planted {
  readonly name: string;
  /** The shapes that could show it; default: all. */
  readonly shapes?: readonly string[];
  readonly ledger?: (now: () => number) => ModelLedger;
  /** A ledger of each process's own. */
  readonly ledgers?: "apart";
  readonly tasks?: () => ModelTasks;
  readonly taskService?: (engine: TaskEngine) => TaskService;
  /** Whether wakers wake anybody. */
  readonly wakes?: false;
  readonly server?: (options: ServerOptions, process: Process, world: World) => ServerOptions;
  /** Keys are taken out of the ring as soon as the next one seals. */
  readonly rotatesTooFast?: true;
  /** What a server is told of a request. */
  readonly request?: (message: RequestMessage) => RequestMessage;
  /** Everybody is taken for one and the same. */
  readonly forgetsCallers?: true;
  /** A server goes on with its own tickets, so that clients do not hold them when effects begin. */
  readonly playsTickets?: true;
  /** Replaces parts of the library for the time of one schedule. */
  readonly patch?: () => () => void;
}

export interface RequestMessage {
  readonly method: string;
  readonly params: Record<string, unknown>;
}
