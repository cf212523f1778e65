// Who a client or server says it is, and what it says it can do.
import type { JSONObject } from "./json-types.ts";

/** A picture for a list entry or an implementation: an https or data URI. */
export interface Icon {
  src: string;
  mimeType?: string;
  /** `"48x48"`, `"any"`, ... */
  sizes?: string[];
  theme?: "light" | "dark";
}

/** Something with pictures. */
export interface Icons {
  icons?: Icon[];
}

/** A name for programs and a title for people. */
export interface BaseMetadata {
  name: string;
  title?: string;
}

/** A client or a server as it describes itself; nobody has verified it, so it is for display and logs only. */
export interface Implementation extends BaseMetadata, Icons {
  version: string;
  description?: string;
  websiteUrl?: string;
}

/**
 * What a client can do for the request that carries this.
 *
 * `elicitation: {}` means forms only.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export interface ClientCapabilities {
  experimental?: { [key: string]: JSONObject };
  /** @deprecated by the specification: pass paths as arguments or resource URIs. */
  roots?: JSONObject;
  /** @deprecated by the specification: call a model from the server. */
  sampling?: { context?: JSONObject; tools?: JSONObject };
  elicitation?: { form?: JSONObject; url?: JSONObject };
  /** Extensions by identifier, with their settings. */
  extensions?: { [key: string]: JSONObject };
}

/** What a server offers. */
export interface ServerCapabilities {
  experimental?: { [key: string]: JSONObject };
  /** @deprecated by the specification: log to stderr or by OpenTelemetry. */
  logging?: JSONObject;
  completions?: JSONObject;
  prompts?: { listChanged?: boolean };
  resources?: { subscribe?: boolean; listChanged?: boolean };
  tools?: { listChanged?: boolean };
  /** Extensions by identifier, with their settings. */
  extensions?: { [key: string]: JSONObject };
}
