// The protocol as data: what the other parts may use of this folder.
export { checkSamplingMessages, cleanCreateMessageResult, cleanRoots } from "./answers.ts";
export * from "./capabilities.ts";
export type * from "./content.ts";
export * from "./content-guards.ts";
export { ErrorCode, RpcError, ToolError, VolleyError, type VolleyErrorCode } from "./errors.ts";
export type * from "./features.ts";
export * from "./guards.ts";
export * from "./headers.ts";
export type * from "./input.ts";
export * from "./input-guards.ts";
export { checkJson, hasUniqueItems, isUnsafe } from "./json.ts";
export * from "./json-rpc.ts";
export type * from "./notifications.ts";
export { checkOptions, describeValue, needOption, type OptionNames } from "./options.ts";
export type * from "./peer.ts";
export * from "./request-guards.ts";
export * from "./result-guards.ts";
export * from "./tasks.ts";
