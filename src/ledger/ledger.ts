/** One effect of one row, as a caller wants to claim it. */
export interface Claim {
  /** The row: a flow id, or the digest of an author's business key. */
  readonly row: string;
  /** The effect's name in that row. */
  readonly name: string;
  /** A random token of this try, so that a retried claim finds itself again. */
  readonly owner: string;
  /** Digests of the answers that the effect rests on, by key. */
  readonly answers: Readonly<Record<string, string>>;
  /** After this moment (milliseconds since the epoch, by the store's clock) claims are refused. */
  readonly deadline: number;
  /** The row is kept at least until this moment, by the store's clock. */
  readonly keepUntil: number;
  /** How long the claim holds without a heartbeat, in milliseconds. */
  readonly leaseMs: number;
  /** Take over an effect that is in doubt: the next epoch, to look before acting. */
  readonly takeOver?: boolean;
}

/** A held claim; writes with it succeed only while its epoch is the row's. */
export interface Hold {
  readonly row: string;
  readonly name: string;
  readonly owner: string;
  readonly epoch: number;
}

/** A settled effect: its sealed value, or its sealed failure. */
export interface Settled {
  readonly name: string;
  readonly failed: boolean;
  readonly value: Uint8Array;
}

export type ClaimResult =
  /** Yours. Epoch 1 means that nobody began it before. */
  | { readonly status: "claimed"; readonly epoch: number }
  /** Done before on the same answers. */
  | { readonly status: "settled"; readonly settled: Settled }
  /** A committed answer differs; what the row has settled so far. */
  | { readonly status: "conflict"; readonly settled: readonly Settled[] }
  /** Another owner's lease is alive. */
  | { readonly status: "running" }
  /** Its owner threw, or its lease ran out. */
  | { readonly status: "in_doubt" }
  /** The store's clock is past the deadline. */
  | { readonly status: "expired" };

/**
 * The shared record of what happened once: one row a flow, in which effects are claimed and settled by name.
 *
 * An implementation must make each call atomic for a row, judge times by its own clock, and keep a row until its
 * `keepUntil` and as long as a lease in it lasts; after that the row is as if it had never been.
 *
 * When it cannot answer it rejects, within a bounded time. No effect is begun on a claim that rejected, so a store that
 * grants it late gives it back; of another call that rejected nobody knows whether it was carried out, and it may be made
 * again.
 */
export interface Ledger {
  /**
   * Claims an effect. The answers of effects that are claimed, settled or in doubt are committed: a claim that has
   * another digest for one of their keys gets `conflict` (or `running`, while that effect may still be given back).
   */
  claim(claim: Claim): Promise<ClaimResult>;
  /** Prolongs the lease; false when the claim is lost. */
  renew(hold: Hold, leaseMs: number): Promise<boolean>;
  /** Records the outcome; false when the claim is lost. */
  settle(hold: Hold, outcome: { readonly failed: boolean; readonly value: Uint8Array }): Promise<boolean>;
  /** Gives the claim back as if it had never been; false when it is lost. */
  release(hold: Hold): Promise<boolean>;
  /** Marks the effect as in doubt at once, without waiting for the lease; false when the claim is lost. */
  doubt(hold: Hold): Promise<boolean>;
  /** Whether other processes see the same record. A server that is one of many must not use one that does not. */
  readonly shared: boolean;
  close?(): Promise<void>;
}
