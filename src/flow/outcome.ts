import type { InputRequest } from "../protocol/index.ts";
import type { OpenQuestion } from "./journal.ts";
import type { TaskOptions } from "./types.ts";

/** How a run ended. */
export type RunOutcome =
  | { readonly type: "returned"; readonly value: unknown }
  | { readonly type: "threw"; readonly error: unknown }
  /** Only answers, time, or the round after a ticket can bring it on; `wakeAt` is the nearest of its timers. */
  | { readonly type: "suspended"; readonly asks: readonly OpenAsk[]; readonly wakeAt: number | undefined }
  /** The handler asked to go on as a task. */
  | { readonly type: "handed_off"; readonly options: TaskOptions };

/** A question that this run could not answer from the journal. */
export interface OpenAsk {
  readonly key: string;
  readonly request: InputRequest;
  /** The request as the author meant it, and why it is asked again, or "". */
  readonly author: InputRequest;
  readonly reason: string;
  readonly question: OpenQuestion;
  /** When it was asked, in the run's own count of events. */
  readonly startedAt: number;
  readonly promise: Promise<unknown>;
}

/** One call on the context while it is under way. */
export interface Call {
  readonly name: string;
  readonly startedAt: number;
}
