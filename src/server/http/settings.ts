// What HTTP needs to know of the server's options.
import type { Trace } from "../../flow/index.ts";
import type { VolleyError } from "../../protocol/index.ts";
import type { Principal } from "../../state/index.ts";
import type { HeaderReader } from "../message/call.ts";

/** How browsers on allowed origins may call. */
export interface CorsOptions {
  /** Request headers to allow beside those of the protocol and `Authorization`. */
  readonly allowHeaders?: readonly string[];
  /** How long a browser may remember a preflight, in seconds. Default 600. */
  readonly maxAgeSeconds?: number;
}

/** What of a request may be how large, and how late. */
export interface HttpLimits {
  /** Largest request body, in bytes. Default 4 MiB. */
  readonly bodyBytes?: number;
  /** Largest sum of header names and values, in bytes. Default 16 KiB. */
  readonly headerBytes?: number;
  /** How long a request's body may take to arrive, in milliseconds. Default 30,000. */
  readonly bodyTimeoutMs?: number;
}

export interface HttpSettings {
  /** Why this set-up must not be served over HTTP, if so. */
  readonly unsafe: VolleyError | undefined;
  readonly authenticate:
    | ((request: HeaderReader) => Principal | undefined | Promise<Principal | undefined>)
    | undefined;
  readonly challenge: string;
  readonly allowedOrigins: readonly string[] | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly cors: CorsOptions | false;
  readonly limits: Required<HttpLimits>;
  readonly trace: Trace;
}
