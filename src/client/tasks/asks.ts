// The questions of one task: each is put to its handler once, each answer is sent once.
import {
  type ClientCapabilities,
  type InputRequest,
  type InputRequests,
  type InputResponse,
  type InputResponses,
  VolleyError,
} from "../../protocol/index.ts";
import { type AskKind, kindOf } from "../questions/answers.ts";
import { type AskContext, type AskHandlers, answerAll, refuseUndeclared } from "../questions/asks.ts";

export interface TaskAsks {
  /**
   * Puts those questions to the handlers that they have not been asked yet, and takes away those that are no longer
   * open.
   */
  show(requests: InputRequests): void;
  /** Takes everything away. */
  end(reason: unknown): void;
}

export interface TaskAskSettings {
  readonly handlers: AskHandlers;
  /** Kinds that somebody else answers where there is no handler. */
  readonly byHand: readonly AskKind[];
  readonly declared: ClientCapabilities;
  /** How many times new questions may come. */
  readonly maxRounds: number;
  /** Keys that have been answered; grows here and by whoever answers by hand. */
  readonly answered: Set<string>;
  context(round: number, signal: AbortSignal): AskContext;
  send(responses: InputResponses): Promise<void>;
  /** Hears why a question could not be answered. */
  fail(error: unknown): void;
}

export function createTaskAsks(settings: TaskAskSettings): TaskAsks {
  const { handlers, byHand, declared, maxRounds, answered } = settings;
  const open = new Map<string, AbortController>();
  const left = new Set<string>();
  const unsent = new Map<string, InputResponse>();
  let sending = false;
  let ended = false;
  let round = 0;

  async function ask(key: string, request: InputRequest, ending: AbortController): Promise<void> {
    const requests = { [key]: request };
    const responses = await answerAll(requests, handlers, settings.context(round, ending.signal));
    if (ending.signal.aborted || answered.has(key)) return;
    answered.add(key);
    open.delete(key);
    unsent.set(key, responses[key] as InputResponse);
    await send();
  }

  // One update at a time; answers that come in the same turn, or meanwhile, go together.
  async function send(): Promise<void> {
    if (sending) return;
    sending = true;
    await new Promise((resolve) => setTimeout(resolve, 0));
    while (unsent.size > 0 && !ended) {
      const responses: InputResponses = Object.create(null);
      for (const [key, response] of unsent) responses[key] = response;
      unsent.clear();
      await settings.send(responses);
    }
    sending = false;
  }

  return {
    show(requests) {
      for (const [key, ending] of open) {
        if (Object.hasOwn(requests, key)) continue;
        open.delete(key);
        ending.abort(new VolleyError("closed", "The task no longer asks this."));
      }
      const fresh: InputRequests = Object.create(null);
      for (const [key, request] of Object.entries(requests)) {
        if (!open.has(key) && !answered.has(key) && !left.has(key)) fresh[key] = request;
      }
      if (Object.keys(fresh).length === 0) return;
      if (++round > maxRounds) {
        throw new VolleyError(
          "round_limit",
          `The task has asked for more ${round} times: raise maxRounds if that is right.`,
        );
      }
      refuseUndeclared(fresh, declared);
      for (const [key, request] of Object.entries(fresh)) {
        const kind = kindOf(request);
        if (handlers[kind] === undefined && byHand.includes(kind)) {
          left.add(key);
          continue;
        }
        const ending = new AbortController();
        open.set(key, ending);
        ask(key, request, ending).catch((error) => {
          if (!ending.signal.aborted) settings.fail(error);
        });
      }
    },
    end(reason) {
      ended = true;
      for (const ending of open.values()) ending.abort(reason);
      open.clear();
    },
  };
}
