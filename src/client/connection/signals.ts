// Listening to signals that many calls may share.

interface Hub {
  readonly listeners: Set<() => void>;
  readonly fire: () => void;
}

const hubs = new WeakMap<AbortSignal, Hub>();

/**
 * Calls `listener` when the signal fires; the returned function takes it back. The signal has one real listener however
 * many there are here: runtimes warn of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let hub = hubs.get(signal);
  if (hub === undefined) {
    const listeners = new Set<() => void>();
    hub = {
      listeners,
      fire() {
        for (const each of [...listeners]) each();
      },
    };
    hubs.set(signal, hub);
    signal.addEventListener("abort", hub.fire);
  }
  const { listeners, fire } = hub;
  listeners.add(listener);
  return () => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    signal.removeEventListener("abort", fire);
    hubs.delete(signal);
  };
}
