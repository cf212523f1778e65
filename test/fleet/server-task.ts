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

/** What a process says. `stopping`: it wants to be stopped, and waits until it was. */
export type Said = { readonly type: "ready" } | { readonly type: "stopping" } | { readonly weighs: number };

/** Told to a process that wanted to be stopped, and was. */
export const GO_ON = "go on";

/** What a process is asked. */
export type Asked = { readonly busy: boolean } | "weigh" | typeof GO_ON;

/** How long a claim holds without a heartbeat. */
export const LEASE_MS = 2_000;
/** How long a flow of the tool `brief` may take. */
export const BRIEF_MS = 6_000;
