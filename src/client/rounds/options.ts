// What a caller can say about one call with all its rounds.
import type { InputRequests, OptionNames } from "../../protocol/index.ts";
import { REQUEST_OPTIONS, type RequestOptions } from "../connection/options.ts";
import type { FollowOptions } from "../tasks/follow.ts";

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

/** Options of a request that may take several rounds. */
export interface CallOptions extends RequestOptions, FollowOptions {
  /** Hears of each round as it is answered. */
  readonly onRound?: (round: RoundInfo) => void;
  /** How long the server is to keep the task, in milliseconds; only clients with `tasks: "sep2322"` can ask for it. */
  readonly taskTtlMs?: number;
}

export const CALL_OPTIONS: OptionNames<CallOptions> = {
  ...REQUEST_OPTIONS,
  onRound: true,
  maxRounds: true,
  onTask: true,
  cancelOnAbort: true,
  taskTtlMs: true,
};
