// News of a task: notifications where the server offers them, and the time to look otherwise.
import { type DetailedTask, ErrorCode, RpcError, VolleyError } from "../../protocol/index.ts";
import { subscribe } from "../changes/subscriptions.ts";
import type { Connection } from "../connection/connection.ts";
import { readTask } from "./wire.ts";

/** The newest state that was told, for one who waits for it. */
export interface Mailbox {
  /** A state, or undefined: there may be a new one to look for. */
  put(task: DetailedTask | undefined): void;
  fail(error: unknown): void;
  /** The next state; undefined when it is time to look, after `ms` at the latest. */
  take(ms: number): Promise<DetailedTask | undefined>;
  close(): void;
}

export function createMailbox(): Mailbox {
  let newest: { readonly task: DetailedTask | undefined } | undefined;
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    put(task) {
      newest = { task };
      wake?.();
    },
    fail(error) {
      failure ??= { error };
      wake?.();
    },
    async take(ms) {
      if (newest === undefined && failure === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, ms);
        });
        clearTimeout(timer);
        wake = undefined;
      }
      if (failure !== undefined) throw failure.error;
      const told = newest?.task;
      newest = undefined;
      return told;
    },
    close() {
      clearTimeout(timer);
    },
  };
}

/** A stream of notifications about one task. */
export interface TaskStream {
  /** Whether the server tells of the task just now. */
  readonly isOpen: boolean;
}

// Servers that do not offer notifications of tasks are not asked again.
const silent = new WeakSet<Connection>();

/** Asks for notifications of a task until the signal fires; what they tell goes into the mailbox. */
export function watchTask(connection: Connection, id: string, mailbox: Mailbox, signal: AbortSignal): TaskStream {
  let isOpen = false;
  const interrupted = (): void => {
    // Until the stream is open again it is time to look.
    if (isOpen) mailbox.put(undefined);
    isOpen = false;
  };

  async function listen(): Promise<void> {
    const host = { connection, changed: () => undefined, readAgain: () => Promise.reject(nothingElse()), interrupted };
    const events = subscribe(host, { taskIds: [id] }, { signal });
    for await (const event of events) {
      if (event.type === "acknowledged" || event.type === "gap") {
        const { taskIds } = event.notifications;
        if (taskIds === undefined) silent.add(connection);
        if (!taskIds?.includes(id)) return;
        isOpen = true;
        // Something may have been missed.
        if (event.type === "gap") mailbox.put(undefined);
      } else if (
        event.type === "notification" &&
        event.method === "notifications/tasks" &&
        event.params.taskId === id
      ) {
        mailbox.put(readOr(event.params));
      }
    }
  }

  if (!silent.has(connection)) {
    listen()
      .catch((error) => {
        // Whatever else is wrong with the stream: looking goes on, and says it if it concerns the task too.
        if (RpcError.is(error) && error.code === ErrorCode.MethodNotFound) silent.add(connection);
      })
      .finally(interrupted);
  }
  return {
    get isOpen() {
      return isOpen;
    },
  };
}

/** Undefined for a notification that does not hold the whole state: then it is time to look. */
function readOr(params: unknown): DetailedTask | undefined {
  try {
    return readTask(params);
  } catch {
    return undefined;
  }
}

function nothingElse(): VolleyError {
  return new VolleyError("message_invalid", "Only a task was asked for.");
}
