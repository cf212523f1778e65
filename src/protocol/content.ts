// Content blocks: what tools return, prompts hold and models say.
import type { MetaObject } from "./json-rpc.ts";
import type { BaseMetadata, Icons } from "./peer.ts";

/** Who speaks in a conversation. */
export type Role = "user" | "assistant";

/** Hints on how a block or resource is to be used. */
export interface Annotations {
  audience?: Role[];
  /** From 0, optional, to 1, required. */
  priority?: number;
  /** ISO 8601. */
  lastModified?: string;
}

/** Plain text. */
export interface TextContent {
  type: "text";
  text: string;
  annotations?: Annotations;
  _meta?: MetaObject;
}

/** A picture, base64. */
export interface ImageContent {
  type: "image";
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: MetaObject;
}

/** Sound, base64. */
export interface AudioContent {
  type: "audio";
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: MetaObject;
}

/** A resource that the server can read, as `resources/list` shows it. */
export interface Resource extends BaseMetadata, Icons {
  uri: string;
  description?: string;
  mimeType?: string;
  annotations?: Annotations;
  /** Bytes before any encoding. */
  size?: number;
  _meta?: MetaObject;
}

/** A pointer to a resource; it need not be in `resources/list`. */
export interface ResourceLink extends Resource {
  type: "resource_link";
}

/** What the contents of a resource have in common. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  _meta?: MetaObject;
}

/** Contents that are text. */
export interface TextResourceContents extends ResourceContents {
  text: string;
}

/** Contents that are bytes, base64. */
export interface BlobResourceContents extends ResourceContents {
  blob: string;
}

/** A resource, contents included. */
export interface EmbeddedResource {
  type: "resource";
  resource: TextResourceContents | BlobResourceContents;
  annotations?: Annotations;
  _meta?: MetaObject;
}

/** One block of a tool's result or a prompt's message. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/**
 * A model's wish to call a tool.
 *
 * @deprecated by the specification, together with sampling.
 */
export interface ToolUseContent {
  type: "tool_use";
  id: string;
  name: string;
  input: { [key: string]: unknown };
  _meta?: MetaObject;
}

/**
 * What the tool that a model wished for has returned.
 *
 * @deprecated by the specification, together with sampling.
 */
export interface ToolResultContent {
  type: "tool_result";
  /** The `id` of the {@link ToolUseContent} that it answers. */
  toolUseId: string;
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: MetaObject;
}
