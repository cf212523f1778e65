// What a caller can say about one request.
import type { LoggingLevel, OptionNames } from "../../protocol/index.ts";

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

export const REQUEST_OPTIONS: OptionNames<RequestOptions> = {
  signal: true,
  timeoutMs: true,
  maxTotalTimeoutMs: true,
  onProgress: true,
  onLog: true,
  logLevel: true,
  meta: true,
};
