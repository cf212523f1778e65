import { VolleyError } from "../protocol/index.ts";
import { Call } from "../server/index.ts";
import type { Principal } from "../state/index.ts";

/** A notification of the core, on its way to a session. */
export interface Notice {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What waits for a slow reader before more is dropped. */
const MOST_WAITING = 64;

/** One round, or one subscription, of a session. */
export class SessionCall extends Call {
  readonly headers = undefined;
  readonly #forward: (notice: Notice) => Promise<void>;
  #waiting = 0;

  constructor(principal: Principal, forward: (notice: Notice) => Promise<void>) {
    super();
    this.principal = principal;
    this.#forward = forward;
  }

  protected write(message: string): boolean {
    const settled = (): void => {
      this.#waiting--;
      if (this.blocked) this.drained();
    };
    this.#waiting++;
    // What cannot be delivered any more is nobody's error: the end of a session is told by its signal.
    this.#forward(JSON.parse(message)).then(settled, settled);
    return this.#waiting < MOST_WAITING;
  }

  // The session drops its calls itself.
  protected watch(): void {}

  /** Drops the call when the signal says so; the returned function ends that. */
  follow(signal: AbortSignal): () => void {
    const drop = (): void => this.drop(new VolleyError("aborted", "The client cancelled the request or went away."));
    if (signal.aborted) drop();
    signal.addEventListener("abort", drop, { once: true });
    return () => signal.removeEventListener("abort", drop);
  }
}
