import { VolleyError } from "../protocol/index.ts";

/** Why a presented state was refused: for traces and metrics, never for a peer. */
export type StateRefusal =
  | "format" // not a token of ours, or not in its one canonical spelling
  | "too_large" // over the limit of the tool
  | "kid" // sealed by a key that the ring does not hold
  | "authentication" // altered, or bound to another principal, audience, method, target or arguments
  | "body" // authentic, but not what this version seals
  | "future" // issued more than two minutes from now
  | "deadline" // the flow is over
  | "expired"; // the state is

/** A presented state that must not be used; the message is always the same, `reason` stays on the server. */
export class StateRefused extends VolleyError {
  readonly reason: StateRefusal;

  constructor(reason: StateRefusal) {
    super("state_refused", "The request state is not valid for this request.");
    this.name = "StateRefused";
    this.reason = reason;
  }
}
