// What the options of a client are called: a name that is not here is refused.
import { checkOptions, type OptionNames } from "../protocol/index.ts";
import type { CompleteOptions, StartOptions } from "./api.ts";
import type { AskHandlers } from "./asks.ts";
import type { ConnectOptions } from "./connect.ts";
import type { CallOptions, RequestOptions } from "./options.ts";
import type { StdioServer } from "./stdio.ts";
import type { SubscribeOptions } from "./subscriptions.ts";
import type { FollowOptions } from "./task-follow.ts";

const CONNECT_OPTIONS: OptionNames<ConnectOptions> = {
  form: true,
  url: true,
  sampling: true,
  roots: true,
  clientInfo: true,
  headers: true,
  fetch: true,
  maxRounds: true,
  legTimeoutMs: true,
  maxTotalTimeoutMs: true,
  pace: true,
  tasks: true,
  onWarning: true,
  signal: true,
};
const SAMPLING: OptionNames<Extract<AskHandlers["sampling"], object & { readonly create: unknown }>> = {
  create: true,
  tools: true,
  context: true,
};
const PROGRAM: OptionNames<StdioServer> = {
  command: true,
  args: true,
  env: true,
  cwd: true,
  stderr: true,
  graceMs: true,
};

export const REQUEST_OPTIONS: OptionNames<RequestOptions> = {
  signal: true,
  timeoutMs: true,
  maxTotalTimeoutMs: true,
  onProgress: true,
  onLog: true,
  logLevel: true,
  meta: true,
};
export const CALL_OPTIONS: OptionNames<CallOptions> = {
  ...REQUEST_OPTIONS,
  onRound: true,
  maxRounds: true,
  onTask: true,
  cancelOnAbort: true,
  taskTtlMs: true,
};
export const START_OPTIONS: OptionNames<StartOptions> = { ...CALL_OPTIONS, answers: true };
export const COMPLETE_OPTIONS: OptionNames<CompleteOptions> = { ...REQUEST_OPTIONS, settled: true };
export const SUBSCRIBE_OPTIONS: OptionNames<SubscribeOptions> = { signal: true, reconnect: true, pace: true };
export const FOLLOW_OPTIONS: OptionNames<FollowOptions> = {
  signal: true,
  timeoutMs: true,
  meta: true,
  onTask: true,
  cancelOnAbort: true,
  maxRounds: true,
};

/** @throws VolleyError `invalid_options` */
export function checkConnect(target: unknown, options: ConnectOptions): void {
  checkOptions("connect", options, CONNECT_OPTIONS);
  if (typeof options.sampling === "object") checkOptions("connect: sampling", options.sampling, SAMPLING);
  const isProgram = typeof target === "object" && target !== null && "command" in target && !("send" in target);
  if (isProgram) checkOptions("connect: the program", target, PROGRAM);
}
