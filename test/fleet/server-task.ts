// What a process of the fleet and its supervisor tell each other.
import type { StoreKind } from "../ledger/stores.ts";

export interface ServerTask {
  readonly socket: string;
  readonly kind: StoreKind;
  readonly location: string;
  readonly truth: string;
  readonly keys: readonly string[];
  readonly version: 1 | 2;
  readonly skewMs: number;
  readonly busy: boolean;
}

/** What a process says. `stopping`: it is about to be stopped between its claim and its effect. */
export type Said = { readonly type: "ready" } | { readonly type: "stopping" } | { readonly weighs: number };

/** What a process is asked. */
export type Asked = { readonly busy: boolean } | "weigh";

/** How long a claim holds without a heartbeat. */
export const LEASE_MS = 2_000;
/** How long a flow of the tool `brief` may take. */
export const BRIEF_MS = 6_000;
