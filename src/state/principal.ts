/**
 * Who is calling, as the server verified it: stable across token refresh, never a token, never `clientInfo`.
 *
 * State sealed for an anonymous caller is a bearer secret: whoever holds it can go on with the flow.
 */
export type Principal =
  | { readonly type: "anonymous" }
  | { readonly type: "user"; readonly issuer: string; readonly subject: string; readonly tenant?: string };

/** A caller about whom nothing was verified. */
export const ANONYMOUS: Principal = Object.freeze({ type: "anonymous" });
