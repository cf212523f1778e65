// A call as its rounds carry it, and where it stands after one of them.
import type { ClientCapabilities, InputRequests, InputResponses, Task } from "../../protocol/index.ts";
import type { AskKind } from "../questions/answers.ts";
import type { RoundMethod, RoundResults } from "../results/results.ts";
import type { TaskData } from "../tasks/data.ts";
import type { TaskHost } from "../tasks/follow.ts";
import type { CallOptions } from "./options.ts";

/** What rounds need of the client. */
export interface Rounds extends TaskHost {
  /** How long to wait before the retry of the n-th result in a row that asks nothing, in milliseconds. */
  readonly pace: (attempt: number) => number;
}

/** A request, as its first round sent it. */
export interface Flow<M extends RoundMethod> {
  readonly method: M;
  readonly params: Readonly<Record<string, unknown>>;
  readonly capabilities: ClientCapabilities;
  readonly options: CallOptions;
  /**
   * The kinds of questions that a caller by hand answers, who is given the round that asked nothing when the request after it
   * fails.
   */
  readonly byHand?: readonly AskKind[];
}

/** A flow that waits for answers. */
export interface Waiting {
  /** How many rounds the server has answered. */
  readonly round: number;
  /** By the server's keys, without a prototype. */
  readonly requests: InputRequests;
  /** What the retry brings back; undefined where it brings nothing back. */
  readonly requestState: string | undefined;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** How many rounds in a row, up to this one, asked to open a page that the person had just agreed to open. */
  readonly repeats: number;
}

/** A round that has been answered. */
export interface Answered {
  readonly waiting: Waiting;
  /** Undefined where nothing was asked. */
  readonly responses: InputResponses | undefined;
  readonly endedAt: number;
}

/** Where a flow stands after a round. */
export type Standing<M extends RoundMethod> =
  | { readonly type: "complete"; readonly round: number; readonly result: RoundResults[M] }
  | { readonly type: "waiting"; readonly waiting: Waiting }
  /** A tool goes on as a task; no rounds follow. */
  | { readonly type: "task"; readonly task: Task };

/** What a call is about: the name of a tool or prompt, the URI of a resource. */
export function targetOf(params: Readonly<Record<string, unknown>>): string {
  return String(params.name ?? params.uri);
}

/** The methods by which a flow's task is followed. */
export function wireOf({ params }: Pick<Flow<RoundMethod>, "params">): TaskData["wire"] {
  return params.task === undefined ? "extension" : "sep2322";
}
