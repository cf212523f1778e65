import { VolleyError } from "../protocol/index.ts";
import type { Clock, FlowDefinition, Trace } from "./types.ts";

/** How long all releases of a round may take together. */
const RELEASE_MS = 5_000;

/** What a run must give back when it ends. */
export class Releases {
  readonly #definition: FlowDefinition;
  readonly #clock: Clock;
  readonly #trace: Trace | undefined;
  readonly #releases: (() => unknown)[] = [];

  constructor(definition: FlowDefinition, clock: Clock, trace: Trace | undefined) {
    this.#definition = definition;
    this.#clock = clock;
    this.#trace = trace;
  }

  add(release: () => unknown): void {
    this.#releases.push(release);
  }

  /** Last acquired, first released. Never rejects, and is over in time whatever a release does. */
  async run(): Promise<void> {
    let cancel: (() => void) | undefined;
    const late = new Promise<true>((resolve) => {
      cancel = this.#clock.after(RELEASE_MS, () => resolve(true));
    });
    if ((await Promise.race([this.#all(), late])) === true) {
      const message = `A release took longer than ${RELEASE_MS} ms: the round has ended without it.`;
      this.#fault(new VolleyError("timeout", message));
    }
    cancel?.();
  }

  async #all(): Promise<undefined> {
    for (const release of this.#releases.reverse()) {
      try {
        await release();
      } catch (error) {
        this.#fault(error);
      }
    }
  }

  #fault(error: unknown): void {
    this.#trace?.({ type: "fault", target: this.#definition.name, error });
  }
}
