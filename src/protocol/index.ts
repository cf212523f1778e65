// The protocol as data: what the other parts may use of this folder.
export type * from "./content.ts";
export { ErrorCode, RpcError, VolleyError, type VolleyErrorCode } from "./errors.ts";
export type * from "./features.ts";
export type * from "./input.ts";
export * from "./json-rpc.ts";
export type * from "./notifications.ts";
export type * from "./peer.ts";
