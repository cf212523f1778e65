import type { AsyncResource } from "node:async_hooks";

/** How long a reply waits for its neighbours where handlers keep the turn busy, in milliseconds. */
const MOST_WAIT_MS = 2;

/** A write that waits, with the async context of its request: listeners on the response find theirs in it. */
interface Held {
  readonly scope: AsyncResource;
  readonly write: () => void;
}

/** Takes a write that is to happen at the end of this turn of the event loop. */
export type Burst = (scope: AsyncResource, write: () => void) => void;

/**
 * Makes what lets replies of one turn of the event loop go out together, at its end.
 *
 * A response that is written between the work of two others wakes a reader that has just gone to sleep, and the kernel's part in that is the
 * dearest of a request. What waits is finished: nothing but its bytes are late.
 */
export function createBurst(): Burst {
  let held: Held[] = [];
  let since = 0;

  const flush = (): void => {
    const ready = held;
    held = [];
    for (const { scope, write } of ready) {
      try {
        scope.runInAsyncScope(write);
      } catch (error) {
        // Code of others that hangs on a response failed: theirs to know, and no reason to leave the next one unanswered.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  };

  return (scope, write) => {
    held.push({ scope, write });
    if (held.length === 1) {
      since = performance.now();
      setImmediate(flush);
    } else if (performance.now() - since > MOST_WAIT_MS) {
      flush();
    }
  };
}
