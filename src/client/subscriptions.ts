// Hearing of changes: one stream that is opened again whenever it breaks.
import {
  ErrorCode,
  isAcknowledgedParams,
  isResourceUpdatedParams,
  type JSONRPCNotification,
  type ReadResourceResult,
  type Received,
  RpcError,
  type SubscriptionFilter,
  VolleyError,
} from "../protocol/index.ts";
import type { Connection } from "./connection.ts";
import { abortedError } from "./errors.ts";
import { httpFailureOf, retryAfterMs } from "./http-failure.ts";
import { reconnectPace, sleep } from "./pause.ts";
import { createQueue, type EventQueue } from "./queue.ts";
import { onAbort } from "./signals.ts";

/** What a subscription tells. */
export type SubscriptionEvent =
  /** It is open; `notifications` is what the server has agreed to, which may be less than what was asked for. */
  | { readonly type: "acknowledged"; readonly notifications: SubscriptionFilter }
  | { readonly type: "tools_changed" }
  | { readonly type: "prompts_changed" }
  | { readonly type: "resources_changed" }
  /** The resource, or one beneath a resource that is subscribed to, may have changed. */
  | { readonly type: "resource_updated"; readonly uri: string }
  /**
   * Something may have been missed: the stream was interrupted (`resources` then holds each subscribed resource, read
   * again), or events came faster than they were read (`resources` is empty). Lists that were cached are dropped.
   */
  | { readonly type: "gap"; readonly notifications: SubscriptionFilter; readonly resources: readonly ReadAgain[] }
  /** A notification that an extension adds. */
  | { readonly type: "notification"; readonly method: string; readonly params: Readonly<Record<string, unknown>> };

/** A subscribed resource after an interruption, or why it could not be read. */
export type ReadAgain =
  | { readonly uri: string; readonly result: Received<ReadResourceResult> }
  | { readonly uri: string; readonly error: unknown };

/** An open subscription; ends with the loop that reads it, with {@link Subscription.close}, or with its signal. */
export interface Subscription extends AsyncIterableIterator<SubscriptionEvent, undefined> {
  /** Ends it; events that are still waiting can be read. */
  close(): void;
}

/** Options of a subscription. */
export interface SubscribeOptions {
  readonly signal?: AbortSignal;
  /** Whether a stream that ends is opened again. Default true. Over stdio it is as long as the server lives. */
  readonly reconnect?: boolean;
  /** How long to wait before the n-th try in a row, in milliseconds. Default: 500 ms doubling to 30 s, half to all of it. */
  readonly pace?: (attempt: number) => number;
}

/** What subscriptions need of the client. */
export interface SubscriptionHost {
  readonly connection: Connection;
  /** Drops what is cached and has changed. */
  changed(event: SubscriptionEvent, subscribed: readonly string[]): void;
  /** Reads a resource anew, without asking anybody anything. */
  readAgain(uri: string, signal: AbortSignal): Promise<Received<ReadResourceResult>>;
  /** Hears that a stream has ended and will be opened again; a gap is told once it is. */
  interrupted?(): void;
}

const MAX_WAITING = 1_000;
/** A stream that lived shorter than this has not worked. */
const STABLE_MS = 5_000;
// Asking again would get the same answer.
const FINAL_CODES: readonly number[] = [
  ErrorCode.InvalidRequest,
  ErrorCode.MethodNotFound,
  ErrorCode.InvalidParams,
  ErrorCode.MissingRequiredClientCapability,
];

/** Opens a subscription. */
export function subscribe(host: SubscriptionHost, filter: SubscriptionFilter, options: SubscribeOptions): Subscription {
  const { signal } = options;
  let agreed: SubscriptionFilter = {};
  const queue = createQueue<SubscriptionEvent>(MAX_WAITING, () => ({
    type: "gap",
    notifications: agreed,
    resources: [],
  }));
  const ending = new AbortController();
  if (signal?.aborted) ending.abort(abortedError(signal));
  const ignore = signal && onAbort(signal, () => ending.abort(abortedError(signal)));

  const stream: Stream = {
    filter,
    signal: ending.signal,
    queue,
    agree(notifications) {
      agreed = notifications;
    },
  };
  const settle = (error?: unknown): void => {
    ignore?.();
    queue.end(error);
  };
  keepOpen(host, stream, options).then(
    () => settle(),
    // Closing is no failure; the caller's signal is, as everywhere.
    (error) => settle(ending.signal.aborted && !signal?.aborted ? undefined : error),
  );

  const close = (): void => ending.abort(new VolleyError("closed", "The subscription is closed."));
  return {
    next: () => queue.next(),
    async return() {
      close();
      return { done: true, value: undefined };
    },
    close,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

interface Stream {
  readonly filter: SubscriptionFilter;
  readonly signal: AbortSignal;
  readonly queue: EventQueue<SubscriptionEvent>;
  agree(notifications: SubscriptionFilter): void;
}

async function keepOpen(host: SubscriptionHost, stream: Stream, options: SubscribeOptions): Promise<void> {
  const { reconnect = true, pace = reconnectPace } = options;
  let wasOpen = false;
  for (let attempt = 1; ; attempt++) {
    let openedAt = Number.POSITIVE_INFINITY;
    let askedMs = 0;
    try {
      await listen(host, stream, wasOpen, () => {
        wasOpen = true;
        openedAt = performance.now();
      });
    } catch (error) {
      if (stream.signal.aborted || !wasOpen || isFinal(error, host.connection)) throw error;
      if (!reconnect) throw error;
      askedMs = retryAfterMs(httpFailureOf(error)?.retryAfter) ?? 0;
    }
    if (!reconnect) return;
    host.interrupted?.();
    if (performance.now() - openedAt > STABLE_MS) attempt = 1;
    await sleep(Math.max(pace(attempt), askedMs), stream.signal, host.connection.closing);
  }
}

function isFinal(error: unknown, connection: Connection): boolean {
  if (RpcError.is(error)) return FINAL_CODES.includes(error.code);
  if (!VolleyError.is(error)) return true;
  // A server process that has ended is not started again.
  if (error.code === "connection_failed") return connection.kind === "stdio";
  return error.code === "legacy_server" || (error.code === "closed" && connection.closing.aborted);
}

/** Plays one stream to its end; resolves when the server ends it in good order. */
async function listen(host: SubscriptionHost, stream: Stream, isAgain: boolean, onOpen: () => void): Promise<void> {
  const { connection } = host;
  const { filter, queue, signal } = stream;
  const attempt = new AbortController();
  const abort = (): void => attempt.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  // Events that arrive while the resources are read again wait until the gap has been told.
  let held: JSONRPCNotification[] | undefined;
  let isOpen = false;

  function open(notifications: SubscriptionFilter): void {
    isOpen = true;
    onOpen();
    stream.agree(notifications);
    if (!isAgain) {
      queue.push({ type: "acknowledged", notifications });
      return;
    }
    held = [];
    void tellGap(host, notifications, attempt.signal).then((gap) => {
      if (signal.aborted) return;
      queue.push(gap);
      const late = held ?? [];
      held = undefined;
      for (const notification of late) tell(host, stream, notification);
    });
  }

  try {
    await connection.request(
      {
        method: "subscriptions/listen",
        params: { notifications: filter },
        onNotification(notification, endWait) {
          const { method, params } = notification;
          if (!isOpen) {
            if (method !== "notifications/subscriptions/acknowledged" || !isAcknowledgedParams(params)) return;
            endWait();
            open(params.notifications);
          } else if (held !== undefined) held.push(notification);
          else tell(host, stream, notification);
        },
      },
      { signal: attempt.signal },
    );
  } finally {
    signal.removeEventListener("abort", abort);
    attempt.abort();
  }
}

async function tellGap(
  host: SubscriptionHost,
  notifications: SubscriptionFilter,
  signal: AbortSignal,
): Promise<SubscriptionEvent> {
  const uris = notifications.resourceSubscriptions ?? [];
  host.changed({ type: "gap", notifications, resources: [] }, uris);
  const resources = await Promise.all(
    uris.map(async (uri): Promise<ReadAgain> => {
      try {
        return { uri, result: await host.readAgain(uri, signal) };
      } catch (error) {
        return { uri, error };
      }
    }),
  );
  return { type: "gap", notifications, resources };
}

/** Passes a notification on, if it was asked for. */
function tell(host: SubscriptionHost, stream: Stream, notification: JSONRPCNotification): void {
  const { filter } = stream;
  const event = toEvent(notification, filter);
  if (event === undefined) return;
  host.changed(event, filter.resourceSubscriptions ?? []);
  stream.queue.push(event, event.type === "notification" ? undefined : JSON.stringify(event));
}

function toEvent({ method, params }: JSONRPCNotification, filter: SubscriptionFilter): SubscriptionEvent | undefined {
  switch (method) {
    case "notifications/tools/list_changed":
      return filter.toolsListChanged ? { type: "tools_changed" } : undefined;
    case "notifications/prompts/list_changed":
      return filter.promptsListChanged ? { type: "prompts_changed" } : undefined;
    case "notifications/resources/list_changed":
      return filter.resourcesListChanged ? { type: "resources_changed" } : undefined;
    case "notifications/resources/updated":
      return filter.resourceSubscriptions !== undefined && isResourceUpdatedParams(params)
        ? { type: "resource_updated", uri: params.uri }
        : undefined;
    case "notifications/cancelled":
    case "notifications/subscriptions/acknowledged":
      return undefined;
    default:
      return { type: "notification", method, params: params ?? {} };
  }
}
