// What servers offer: discovery, tools, prompts, resources, completion. What a server says of its own accord is in notifications.ts.
import type {
  Annotations,
  BlobResourceContents,
  ContentBlock,
  Resource,
  Role,
  TextResourceContents,
} from "./content.ts";
import type { InputResponseRequestParams } from "./input.ts";
import type { Cursor, MetaObject, RequestId, RequestParams, Result } from "./json-rpc.ts";
import type { SubscriptionsListenRequest } from "./notifications.ts";
import type { BaseMetadata, Icons, ServerCapabilities } from "./peer.ts";
import type { Tool } from "./tool.ts";

interface RequestBase {
  jsonrpc: "2.0";
  id: RequestId;
}

/** Params of a request for a list. */
export type PaginatedRequestParams = RequestParams & { cursor?: Cursor };

/** A result that may have a next page. */
export interface PaginatedResult extends Result {
  nextCursor?: Cursor;
}

/**
 * A result that may be kept for a while.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
export interface CacheableResult extends Result {
  /** Milliseconds; 0 or less means that it is stale at once. */
  ttlMs: number;
  /** `private`: only for the user it was made for. */
  cacheScope: "public" | "private";
}

/** Asks a server who it is and what it speaks. */
export interface DiscoverRequest extends RequestBase {
  method: "server/discover";
  params: RequestParams;
}

/**
 * A server's description of itself.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
export interface DiscoverResult extends CacheableResult {
  supportedVersions: string[];
  capabilities: ServerCapabilities;
  /** How to use the server, for a model to read. */
  instructions?: string;
}

export interface ListToolsRequest extends RequestBase {
  method: "tools/list";
  params: PaginatedRequestParams;
}

export interface ListToolsResult extends PaginatedResult, CacheableResult {
  tools: Tool[];
}

export type CallToolRequestParams = InputResponseRequestParams & {
  name: string;
  arguments?: { [key: string]: unknown };
};

export interface CallToolRequest extends RequestBase {
  method: "tools/call";
  params: CallToolRequestParams;
}

/** What a tool has returned; a failure of the tool itself is `isError`, so that the model sees it. */
export interface CallToolResult extends Result {
  resultType: "complete";
  content: ContentBlock[];
  /** Fits the tool's `outputSchema`. */
  structuredContent?: unknown;
  isError?: boolean;
}

/** One argument of a prompt. */
export interface PromptArgument extends BaseMetadata {
  description?: string;
  required?: boolean;
}

/**
 * A prompt as `prompts/list` shows it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
 */
export interface Prompt extends BaseMetadata, Icons {
  description?: string;
  arguments?: PromptArgument[];
  _meta?: MetaObject;
}

export interface ListPromptsRequest extends RequestBase {
  method: "prompts/list";
  params: PaginatedRequestParams;
}

export interface ListPromptsResult extends PaginatedResult, CacheableResult {
  prompts: Prompt[];
}

export type GetPromptRequestParams = InputResponseRequestParams & {
  name: string;
  arguments?: { [key: string]: string };
};

export interface GetPromptRequest extends RequestBase {
  method: "prompts/get";
  params: GetPromptRequestParams;
}

/** One message of a prompt. */
export interface PromptMessage {
  role: Role;
  content: ContentBlock;
}

export interface GetPromptResult extends Result {
  resultType: "complete";
  description?: string;
  messages: PromptMessage[];
}

/**
 * A family of resources by an RFC 6570 template, as `resources/templates/list` shows it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */
export interface ResourceTemplate extends BaseMetadata, Icons {
  uriTemplate: string;
  description?: string;
  mimeType?: string;
  annotations?: Annotations;
  _meta?: MetaObject;
}

export interface ListResourcesRequest extends RequestBase {
  method: "resources/list";
  params: PaginatedRequestParams;
}

export interface ListResourcesResult extends PaginatedResult, CacheableResult {
  resources: Resource[];
}

export interface ListResourceTemplatesRequest extends RequestBase {
  method: "resources/templates/list";
  params: PaginatedRequestParams;
}

export interface ListResourceTemplatesResult extends PaginatedResult, CacheableResult {
  resourceTemplates: ResourceTemplate[];
}

export type ReadResourceRequestParams = InputResponseRequestParams & { uri: string };

export interface ReadResourceRequest extends RequestBase {
  method: "resources/read";
  params: ReadResourceRequestParams;
}

export interface ReadResourceResult extends CacheableResult {
  resultType: "complete";
  contents: (TextResourceContents | BlobResourceContents)[];
}

/** Points at a prompt whose argument is being typed. */
export interface PromptReference extends BaseMetadata {
  type: "ref/prompt";
}

/** Points at a resource template whose variable is being typed. */
export interface ResourceTemplateReference {
  type: "ref/resource";
  uri: string;
}

export type CompleteRequestParams = RequestParams & {
  ref: PromptReference | ResourceTemplateReference;
  argument: { name: string; value: string };
  /** Values that are settled already. */
  context?: { arguments?: { [key: string]: string } };
};

/** @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion */
export interface CompleteRequest extends RequestBase {
  method: "completion/complete";
  params: CompleteRequestParams;
}

export interface CompleteResult extends Result {
  completion: {
    /** At most 100. */
    values: string[];
    total?: number;
    hasMore?: boolean;
  };
}

/** Every request a client may send. */
export type ClientRequest =
  | DiscoverRequest
  | CompleteRequest
  | GetPromptRequest
  | ListPromptsRequest
  | ListResourcesRequest
  | ListResourceTemplatesRequest
  | ReadResourceRequest
  | SubscriptionsListenRequest
  | CallToolRequest
  | ListToolsRequest;
