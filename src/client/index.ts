// What other parts may use of the client.

export type { Client, CompleteOptions, RoundParams, StartOptions } from "./api.ts";
export type { ReadAgain, SubscribeOptions, Subscription, SubscriptionEvent } from "./changes/subscriptions.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export type { ServerIdentity } from "./connection/connection.ts";
export type { LogEntry, Progress, RequestOptions } from "./connection/options.ts";
export type { AskKind, FormAnswer, FormFields, FormWords, UrlAnswer, UrlWords } from "./questions/answers.ts";
export type { Ask, AskHandlers, FormAsk, SamplingHandler, UrlAsk } from "./questions/asks.ts";
export { type CheckedUrl, checkUrl, type UrlWarning } from "./questions/url-warnings.ts";
export type { ListEntries, ListMethod, ListPages } from "./results/lists.ts";
export type { RoundMethod, RoundResults } from "./results/results.ts";
export type { CallOptions, RoundInfo } from "./rounds/options.ts";
export type { PendingRound, Started, StartedTask } from "./rounds/pending.ts";
export { type PendingData, pendingOf } from "./rounds/pending-data.ts";
export type { TaskData } from "./tasks/data.ts";
export type { FollowOptions } from "./tasks/follow.ts";
export type { TaskHandle } from "./tasks/task.ts";
export type { TaskMode } from "./tasks/wire.ts";
export { isResourceNotFound, isStateRefused } from "./transports/errors.ts";
export type { HeaderSource } from "./transports/http.ts";
export type { HttpFailure } from "./transports/http-failure.ts";
export type { Fetch } from "./transports/http-fetch.ts";
export type { StdioServer } from "./transports/stdio.ts";
export type { SendOptions, Transport } from "./transports/transport.ts";
