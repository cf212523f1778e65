import type { Keyring } from "./keys.ts";
import type { Principal } from "./principal.ts";

/** What a sealed state is good for: it opens only where all of this is the same again. */
export interface Binding {
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly target: string;
  /** JSON that passed `checkJson`; absent is the same as `{}`. */
  readonly arguments: unknown;
  readonly principal: Principal;
}

/** When a state was sealed and how long it may be used, in milliseconds since 1970. */
export interface Times {
  readonly issuedAt: number;
  /** The first moment at which the state is refused; at most `deadline`. */
  readonly expiresAt: number;
  /** The first moment at which every state of the flow is refused. */
  readonly deadline: number;
}

/** What was in a state that opened. */
export interface Opened {
  readonly body: unknown;
  readonly times: Times;
  /** The id of the key that sealed it. */
  readonly kid: string;
}

/** Seals and opens for one binding, whose associated data are computed once. */
export interface Bound {
  /**
   * Seals a JSON value to a token of at most `maxBytes` characters.
   *
   * @throws VolleyError `state_too_large`
   */
  seal(body: unknown, times: Times, maxBytes: number): string;
  /**
   * Opens what a client presented.
   *
   * @throws StateRefused whatever is wrong with it
   */
  open(token: unknown, now: number, maxBytes: number): Opened;
}

/** Makes and reads `requestState`. */
export interface Sealer {
  bind(binding: Binding): Bound;
}

export interface SealerOptions {
  readonly keyring: Keyring;
  /** The configured URL of this service, never taken from a request; absent where only one process will ever open. */
  readonly audience?: string | undefined;
}
