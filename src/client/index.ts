// What other parts may use of the client.
export type { AskKind, FormAnswer, FormFields, UrlAnswer } from "./answers.ts";
export type { Ask, AskHandlers, FormAsk, SamplingHandler, UrlAsk } from "./asks.ts";
export type { Client, CompleteOptions, RoundParams, StartOptions } from "./client.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export type { ServerIdentity } from "./connection.ts";
export { isResourceNotFound, isStateRefused } from "./errors.ts";
export type { HeaderSource, HttpFailure } from "./http.ts";
export type { Fetch } from "./http-fetch.ts";
export type { ListEntries, ListMethod, ListPages } from "./lists.ts";
export type { CallOptions, LogEntry, Progress, RequestOptions, RoundInfo } from "./options.ts";
export type { PendingData, PendingRound, Started } from "./pending.ts";
export type { RoundMethod, RoundResults } from "./rounds.ts";
export type { StdioServer } from "./stdio.ts";
export type { ReadAgain, SubscribeOptions, Subscription, SubscriptionEvent } from "./subscriptions.ts";
export type { SendOptions, Transport } from "./transport.ts";
export { type CheckedUrl, checkUrl, type UrlWarning } from "./url-warnings.ts";
