// A tool, as servers list it and as they offer it to a model of the client.
import type { MetaObject } from "./json-rpc.ts";
import type { BaseMetadata, Icons } from "./peer.ts";

/** Hints about a tool; never a ground for trust. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/**
 * A tool as `tools/list` shows it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
export interface Tool extends BaseMetadata, Icons {
  description?: string;
  inputSchema: { $schema?: string; type: "object"; [key: string]: unknown };
  outputSchema?: { $schema?: string; [key: string]: unknown };
  annotations?: ToolAnnotations;
  _meta?: MetaObject;
}
