import type { InputRequest } from "../protocol/index.ts";
import type { Call } from "./call.ts";
import type { OpenQuestion } from "./journal.ts";
import type { TaskOptions } from "./types.ts";

/** How a run ended. */
export type RunOutcome =
  | { readonly type: "returned"; readonly value: unknown }
  | { readonly type: "threw"; readonly error: unknown }
  /** Only answers, time, or the round after a ticket can bring it on; `wakeAt` is when the nearest of its sleeps ends. */
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
  readonly call: Call;
  /** When it was opened, in the run's own count of events. */
  readonly openedAt: number;
  /** Takes an answer that comes while the run goes on. */
  readonly answer: (response: unknown) => void;
}
