// Multi round-trip requests: what a server asks in the middle of a request, and what a client answers.
import type { AudioContent, ImageContent, Role, TextContent, ToolResultContent, ToolUseContent } from "./content.ts";
import type { MetaObject, RequestParams, Result } from "./json-rpc.ts";
import type { JSONObject } from "./json-types.ts";
import type { Tool } from "./tool.ts";

/** A text field. */
export interface StringSchema {
  type: "string";
  title?: string;
  description?: string;
  minLength?: number;
  maxLength?: number;
  format?: "email" | "uri" | "date" | "date-time";
  default?: string;
}

/** A number field. */
export interface NumberSchema {
  type: "number" | "integer";
  title?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  default?: number;
}

/** A yes-or-no field. */
export interface BooleanSchema {
  type: "boolean";
  title?: string;
  description?: string;
  default?: boolean;
}

/** One of several values. */
export interface UntitledSingleSelectEnumSchema {
  type: "string";
  title?: string;
  description?: string;
  enum: string[];
  default?: string;
}

/** One of several values that have titles. */
export interface TitledSingleSelectEnumSchema {
  type: "string";
  title?: string;
  description?: string;
  oneOf: { const: string; title: string }[];
  default?: string;
}

/** Either form of a single choice. */
export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema;

/** Any number of several values. */
export interface UntitledMultiSelectEnumSchema {
  type: "array";
  title?: string;
  description?: string;
  minItems?: number;
  maxItems?: number;
  items: { type: "string"; enum: string[] };
  default?: string[];
}

/** Any number of several values that have titles. */
export interface TitledMultiSelectEnumSchema {
  type: "array";
  title?: string;
  description?: string;
  minItems?: number;
  maxItems?: number;
  items: { anyOf: { const: string; title: string }[] };
  default?: string[];
}

/** Either form of a multiple choice. */
export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema;

/**
 * A single choice with its titles in a list beside it.
 *
 * @deprecated by the specification: use {@link TitledSingleSelectEnumSchema}.
 */
export interface LegacyTitledEnumSchema {
  type: "string";
  title?: string;
  description?: string;
  enum: string[];
  enumNames?: string[];
  default?: string;
}

/** Every form of a choice. */
export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema;

/** One field of a form. */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema;

/** A form: one flat object of {@link PrimitiveSchemaDefinition}s. */
export interface RequestedSchema {
  $schema?: string;
  type: "object";
  properties: { [key: string]: PrimitiveSchemaDefinition };
  required?: string[];
}

/** A question by form. */
export interface ElicitRequestFormParams {
  /** Absent means a form. */
  mode?: "form";
  message: string;
  requestedSchema: RequestedSchema;
}

/** A question that a person answers on a web page, out of sight of client and model. */
export interface ElicitRequestURLParams {
  mode: "url";
  message: string;
  url: string;
}

/** Either mode of a question. */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams;

/**
 * A question to a person.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
export interface ElicitRequest {
  method: "elicitation/create";
  params: ElicitRequestParams;
}

/**
 * What the person did.
 *
 * `content` is what the form held; only its own check (against the schema that was asked for) says whether it is usable.
 * After `decline` and `cancel` it means nothing, whatever it holds.
 */
export type ElicitResult =
  | { action: "accept"; content?: { [key: string]: unknown } }
  | { action: "decline" | "cancel"; content?: unknown };

/** A block of a sampling message. */
export type SamplingMessageContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ToolUseContent
  | ToolResultContent;

/**
 * One message of a conversation with a model.
 *
 * @deprecated by the specification, together with sampling.
 */
export interface SamplingMessage {
  role: Role;
  content: SamplingMessageContentBlock | SamplingMessageContentBlock[];
  _meta?: MetaObject;
}

/** A hint at a model: part of a name. */
export interface ModelHint {
  name?: string;
}

/** What matters when the client chooses a model; each priority from 0 to 1. */
export interface ModelPreferences {
  hints?: ModelHint[];
  costPriority?: number;
  speedPriority?: number;
  intelligencePriority?: number;
}

/** Whether the model may, must or must not use tools. */
export interface ToolChoice {
  mode?: "auto" | "required" | "none";
}

/**
 * What a model is asked for.
 *
 * @deprecated by the specification, together with sampling.
 */
export interface CreateMessageRequestParams {
  messages: SamplingMessage[];
  modelPreferences?: ModelPreferences;
  systemPrompt?: string;
  /** `thisServer` and `allServers` need the client's `sampling.context`. */
  includeContext?: "none" | "thisServer" | "allServers";
  temperature?: number;
  maxTokens: number;
  stopSequences?: string[];
  metadata?: JSONObject;
  /** Needs the client's `sampling.tools`, as `toolChoice` does. */
  tools?: Tool[];
  toolChoice?: ToolChoice;
}

/**
 * A question to the client's model.
 *
 * @deprecated by the specification: call a model from the server.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
 */
export interface CreateMessageRequest {
  method: "sampling/createMessage";
  params: CreateMessageRequestParams;
}

/**
 * What the model said.
 *
 * @deprecated by the specification, together with sampling.
 */
export interface CreateMessageResult extends SamplingMessage {
  model: string;
  stopReason?: "endTurn" | "stopSequence" | "maxTokens" | "toolUse" | (string & {});
}

/**
 * A question for the folders that the server may work in.
 *
 * @deprecated by the specification: pass paths as arguments or resource URIs.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/roots
 */
export interface ListRootsRequest {
  method: "roots/list";
  params?: { _meta?: MetaObject };
}

/**
 * A folder or file of the client, by its `file://` URI.
 *
 * @deprecated by the specification, together with roots.
 */
export interface Root {
  uri: string;
  name?: string;
  _meta?: MetaObject;
}

/**
 * The client's folders.
 *
 * @deprecated by the specification, together with roots.
 */
export interface ListRootsResult {
  roots: Root[];
}

/** Anything a server may ask of a client. */
export type InputRequest = CreateMessageRequest | ListRootsRequest | ElicitRequest;

/** An answer to it. */
export type InputResponse = CreateMessageResult | ListRootsResult | ElicitResult;

/** Questions by the keys that the server gave them. */
export interface InputRequests {
  [key: string]: InputRequest;
}

/** Answers by the keys of their questions. */
export interface InputResponses {
  [key: string]: InputResponse;
}

/**
 * "Not yet": what the client has to answer, and the opaque state that it has to bring back; at least one of both.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export interface InputRequiredResult extends Result {
  resultType: "input_required";
  inputRequests?: InputRequests;
  requestState?: string;
}

/** What a retry adds to the params of the first request. */
export type InputResponseRequestParams = RequestParams & {
  inputResponses?: InputResponses;
  requestState?: string;
};
