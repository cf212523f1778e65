// What a caller can say about one call.
import type { InputRequests, LoggingLevel, Task } from "../protocol/index.ts";
import type { AskKind } from "./answers.ts";

/** How far a request is, as the server tells it. */
export interface Progress {
  /** Rises from one to the next within a round; the unit is the server's. */
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

/** A log message of the server about this request. Over stdio it may belong to another request that is open at the same time. */
export interface LogEntry {
  readonly level: LoggingLevel;
  readonly logger: string | undefined;
  readonly data: unknown;
}

/** A round that the server has answered. */
export interface RoundInfo {
  /** 1 for the first request. */
  readonly round: number;
  /** Whether this was the last one. */
  readonly done: boolean;
  /** What the server asks, by key; empty after the last round and after one with a state only. */
  readonly requests: InputRequests;
  /** Size of the `requestState` to bring back, in bytes of UTF-8; undefined where there is none. */
  readonly stateBytes: number | undefined;
  /** From sending the request to reading its answer, in milliseconds. */
  readonly ms: number;
  /** From the answer before to this request: the time of people, models and pauses, in milliseconds. */
  readonly waitMs: number;
  /** The `_meta` of the result. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

/** Options of any request. */
export interface RequestOptions {
  /** Ends the call at once, rounds and questions included; the server is told. */
  readonly signal?: AbortSignal;
  /**
   * The longest wait for the server, in milliseconds, for each request anew; the time of people does not count. Progress
   * restarts it. For as long again, at most, a server that takes no request may ask to wait (`Retry-After`). Default: the
   * client's `legTimeoutMs`.
   */
  readonly timeoutMs?: number;
  /** The longest wait for one request however often progress has restarted it, in milliseconds. Default: the client's. */
  readonly maxTotalTimeoutMs?: number;
  /** Asks the server for progress and receives it. */
  readonly onProgress?: (progress: Progress) => void;
  /**
   * Asks the server for its log messages about this request and receives them.
   * @deprecated by the specification, together with logging.
   */
  readonly onLog?: (entry: LogEntry) => void;
  /** The least grave messages wanted. Default `"info"`; without {@link onLog} nothing is asked for. */
  readonly logLevel?: LoggingLevel;
  /** More `_meta` for the requests, such as `traceparent`; the protocol's own keys are set by the client. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Options of a request that may take several rounds. */
export interface CallOptions extends RequestOptions {
  /** Hears of each round as it is answered. */
  readonly onRound?: (round: RoundInfo) => void;
  /** How many times the server may ask for more before the call fails with `round_limit`. Default: the client's, 32. */
  readonly maxRounds?: number;
  /**
   * Hears of the task that is followed: when it begins, and whenever its state changes. Its `statusMessage` is the
   * progress of tasks, which have no other.
   *
   * Keep `handle`, plain data, to go on with the task in another process ({@link Client.task}).
   */
  readonly onTask?: (task: Task, handle: TaskData) => void;
  /**
   * Whether `signal` also cancels the task that the call has become. Default true, as it cancels a call; false leaves the
   * task running for {@link Client.task}. The call then ends when the server has acknowledged it, 2 s later at the latest.
   * A call that fails otherwise cancels nothing.
   */
  readonly cancelOnAbort?: boolean;
  /** How long the server is to keep the task, in milliseconds; only clients with `tasks: "sep2322"` can ask for it. */
  readonly taskTtlMs?: number;
}

/** A task as data. */
export interface TaskData {
  readonly type: "volley-mcp/task";
  readonly version: 1;
  /** Where the task is: connect there, as the same user. */
  readonly address: string;
  readonly taskId: string;
  /** The tool whose call it is: its result is checked as that of the call would be. */
  readonly tool?: string;
  readonly wire: "extension" | "sep2322";
  /** The kinds of questions that are answered by hand. */
  readonly answers: readonly AskKind[];
}
