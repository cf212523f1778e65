import type { Trace } from "../../flow/index.ts";
import {
  type Implementation,
  META,
  type RequestId,
  readSubscriptionFilter,
  type ServerCapabilities,
  type SubscriptionFilter,
} from "../../protocol/index.ts";
import type { Call } from "../message/call.ts";
import { invalidParams, tooMany } from "../message/refusal.ts";
import type { EventBus, ListEvent, ServerEvent } from "./events.ts";

/** URIs that one stream may watch. */
const WATCHED = 1_000;

/** How many streams may be open. */
export interface StreamLimits {
  /** Open `subscriptions/listen` streams. Default 1,000. */
  readonly streams?: number;
}

export interface ListenSettings {
  readonly limits: Required<StreamLimits>;
  readonly info: Implementation;
  readonly trace: Trace;
}

/** The tasks that one stream watches. */
export interface TaskWatch {
  /** Those that exist for its caller. */
  readonly taskIds: readonly string[];
  /** Calls back with each task's whole state, at once and whenever it changes; the returned function ends that. */
  start(changed: (taskId: string, task: Readonly<Record<string, unknown>>) => void): () => void;
}

/** The open `subscriptions/listen` streams of this process. */
export interface Hub {
  /** Serves one stream until it ends; the promise is the JSON of its result. */
  listen(
    params: Record<string, unknown>,
    id: RequestId,
    call: Call,
    capabilities: ServerCapabilities,
    watch?: TaskWatch,
  ): Promise<string>;
  readonly size: number;
  /** Ends every stream: `notifications/cancelled`, then the result. */
  close(): void;
}

interface Listener {
  readonly call: Call;
  readonly wants: ReadonlySet<string>;
  readonly uris: ReadonlySet<string>;
  /** What a slow reader has yet to hear, each kind once: bounded by what it asked for. */
  readonly pending: Set<string>;
  readonly message: (key: string) => string;
  readonly end: () => void;
}

const LISTS: Record<ListEvent, string> = {
  tools_changed: "notifications/tools/list_changed",
  prompts_changed: "notifications/prompts/list_changed",
  resources_changed: "notifications/resources/list_changed",
};

/**
 * What one listener is to be told of an event: a method for lists, `uri:` and the URI for resources; tasks have `task:` and their id.
 */
function keysFor({ wants, uris }: Listener, event: ServerEvent): readonly string[] {
  switch (event.type) {
    case "missed":
      return [...wants, ...Array.from(uris, (uri) => `uri:${uri}`)];
    case "resource_updated":
      return uris.has(event.uri) ? [`uri:${event.uri}`] : [];
    default:
      return wants.has(LISTS[event.type]) ? [LISTS[event.type]] : [];
  }
}

/**
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
export function createHub(bus: EventBus, { limits, info, trace }: ListenSettings): Hub {
  const listeners = new Set<Listener>();
  let unsubscribe: (() => void) | undefined;

  const send = (listener: Listener, key: string): void => {
    if (listener.call.blocked) listener.pending.add(key);
    else listener.call.send(listener.message(key));
  };

  const deliver = (event: ServerEvent): void => {
    for (const listener of listeners) for (const key of keysFor(listener, event)) send(listener, key);
  };

  const drain = (listener: Listener): void => {
    for (const key of listener.pending) {
      if (listener.call.blocked) return;
      listener.pending.delete(key);
      listener.call.send(listener.message(key));
    }
  };

  return {
    listen(params, id, call, capabilities, watch) {
      const filter = readSubscriptionFilter(params);
      if ((filter.resourceSubscriptions?.length ?? 0) > WATCHED) {
        throw invalidParams(`One stream watches at most ${WATCHED} resources; open several.`);
      }
      if (listeners.size >= limits.streams) throw tooMany(trace, "streams", "Too many open subscriptions.", 30);
      const agreed = agree(filter, capabilities, watch);
      const meta = { [META.subscriptionId]: id };

      return new Promise((resolve) => {
        const settle = (): void => {
          listeners.delete(listener);
          unwatch?.();
          if (listeners.size === 0) {
            unsubscribe?.();
            unsubscribe = undefined;
          }
          resolve(JSON.stringify({ resultType: "complete", _meta: { ...meta, [META.serverInfo]: info } }));
        };
        // The newest state of each task: a slow reader gets that one alone.
        const tasks = new Map<string, Readonly<Record<string, unknown>>>();
        let unwatch: (() => void) | undefined;
        const listener: Listener = {
          call,
          wants: wantsOf(agreed),
          uris: new Set(agreed.resourceSubscriptions),
          pending: new Set(),
          message: (key) =>
            key.startsWith("uri:")
              ? notification("notifications/resources/updated", { _meta: meta, uri: key.slice(4) })
              : key.startsWith("task:")
                ? notification("notifications/tasks", { ...tasks.get(key.slice(5)), _meta: meta })
                : notification(key, { _meta: meta }),
          end() {
            // MUST announce the end, SHOULD answer the request after it.
            call.send(notification("notifications/cancelled", { _meta: meta, requestId: id }));
            settle();
          },
        };
        call.ondrain = () => drain(listener);
        // The acknowledgement is first on the stream: the stream hears events only once it is written.
        call.send(notification("notifications/subscriptions/acknowledged", { _meta: meta, notifications: agreed }));
        listeners.add(listener);
        unsubscribe ??= bus.subscribe(deliver);
        unwatch = watch?.start((taskId, task) => {
          tasks.set(taskId, task);
          send(listener, `task:${taskId}`);
        });
        call.onAbort(settle);
      });
    },
    get size() {
      return listeners.size;
    },
    close() {
      for (const listener of [...listeners]) listener.end();
    },
  };
}

function notification(method: string, params: Record<string, unknown>): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

/** What of a filter this server honours; the rest is left out, as the specification wants it. */
function agree(
  filter: SubscriptionFilter,
  capabilities: ServerCapabilities,
  watch: TaskWatch | undefined,
): SubscriptionFilter {
  const agreed: SubscriptionFilter = {};
  if (filter.toolsListChanged && capabilities.tools) agreed.toolsListChanged = true;
  if (filter.promptsListChanged && capabilities.prompts) agreed.promptsListChanged = true;
  if (filter.resourcesListChanged && capabilities.resources) agreed.resourcesListChanged = true;
  if (filter.resourceSubscriptions && capabilities.resources) {
    agreed.resourceSubscriptions = filter.resourceSubscriptions;
  }
  if (watch) agreed.taskIds = [...watch.taskIds];
  return agreed;
}

function wantsOf(agreed: SubscriptionFilter): Set<string> {
  const wants = new Set<string>();
  if (agreed.toolsListChanged) wants.add(LISTS.tools_changed);
  if (agreed.promptsListChanged) wants.add(LISTS.prompts_changed);
  if (agreed.resourcesListChanged) wants.add(LISTS.resources_changed);
  return wants;
}
