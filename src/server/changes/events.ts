/** What changed; plain JSON, so that any messaging system can carry it. */
export type ServerEvent =
  | { readonly type: "tools_changed" }
  | { readonly type: "prompts_changed" }
  | { readonly type: "resources_changed" }
  | { readonly type: "resource_updated"; readonly uri: string }
  /** Events may have been lost on the way: all that a client watches may have changed. */
  | { readonly type: "missed" };

/** The events by which a list has changed. */
export type ListEvent = Exclude<ServerEvent["type"], "resource_updated" | "missed">;

/**
 * Carries change notifications to every instance that has clients listening.
 *
 * Delivery is best effort: a client that misses one reads again when its copy expires, or at once where a bus that was cut off
 * says `missed` to its own subscribers when it is back.
 */
export interface EventBus {
  /** Hands the event to all subscribers, this process's own included. Must not throw. */
  publish(event: ServerEvent): void;
  /** Calls back for each event; the returned function ends that. */
  subscribe(listener: (event: ServerEvent) => void): () => void;
  close?(): Promise<void>;
}

/** An {@link EventBus} within one process. */
export function createEventBus(): EventBus {
  const listeners = new Set<(event: ServerEvent) => void>();
  return {
    publish(event) {
      for (const listener of listeners) listener(event);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
