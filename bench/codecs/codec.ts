/** Seals a body and opens it again, bound to the same request both times. */
export interface Codec {
  roundTrip(body: unknown): unknown;
}

/** Characters of the sealed form of a body: what the client has to carry. */
export interface Sized {
  sealedLength(body: unknown): number | Promise<number>;
}

/** The request that states are bound to, and how long they live. */
export const REQUEST = { method: "tools/call", target: "resolve_bug", arguments: { id: 4522 } };
export const TTL_MS = 600_000;
