// Guards for content blocks, resources and tools: what both sides send each other in results and questions.
import type {
  Annotations,
  BlobResourceContents,
  ContentBlock,
  Resource,
  Role,
  TextResourceContents,
  ToolResultContent,
  ToolUseContent,
} from "./content.ts";
import type { Prompt, PromptArgument, PromptMessage, ResourceTemplate } from "./features.ts";
import {
  isArrayOf,
  isIcon,
  isObject,
  isOptionalBoolean,
  isOptionalObject,
  isOptionalString,
  isString,
} from "./guards.ts";
import type { SamplingMessage, SamplingMessageContentBlock } from "./input.ts";
import type { Tool } from "./tool.ts";

/** True for `user` and `assistant`. */
export function isRole(value: unknown): value is Role {
  return value === "user" || value === "assistant";
}

function isOptionalNumber(value: unknown): value is number | undefined {
  return value === undefined || typeof value === "number";
}

function isOptionalAnnotations(value: unknown): value is Annotations | undefined {
  return (
    value === undefined ||
    (isObject(value) &&
      (value.audience === undefined || isArrayOf(value.audience, isRole)) &&
      (value.priority === undefined ||
        (typeof value.priority === "number" && value.priority >= 0 && value.priority <= 1)) &&
      isOptionalString(value.lastModified))
  );
}

/** Members that list entries of every kind share. */
function isEntry(value: unknown): value is Record<string, unknown> & { name: string } {
  return (
    isObject(value) &&
    typeof value.name === "string" &&
    isOptionalString(value.title) &&
    isOptionalString(value.description) &&
    (value.icons === undefined || isArrayOf(value.icons, isIcon)) &&
    isOptionalObject(value._meta)
  );
}

/** True for a resource of `resources/list`. */
export function isResource(value: unknown): value is Resource {
  return (
    isEntry(value) &&
    typeof value.uri === "string" &&
    isOptionalString(value.mimeType) &&
    isOptionalNumber(value.size) &&
    isOptionalAnnotations(value.annotations)
  );
}

/** True for an entry of `resources/templates/list`. */
export function isResourceTemplate(value: unknown): value is ResourceTemplate {
  return (
    isEntry(value) &&
    typeof value.uriTemplate === "string" &&
    isOptionalString(value.mimeType) &&
    isOptionalAnnotations(value.annotations)
  );
}

/** True for an entry of `tools/list`; its schemas are only known to be objects. */
export function isTool(value: unknown): value is Tool {
  return (
    isEntry(value) &&
    isObject(value.inputSchema) &&
    value.inputSchema.type === "object" &&
    isOptionalString(value.inputSchema.$schema) &&
    (value.outputSchema === undefined ||
      (isObject(value.outputSchema) && isOptionalString(value.outputSchema.$schema))) &&
    isOptionalToolAnnotations(value.annotations)
  );
}

function isOptionalToolAnnotations(value: unknown): boolean {
  return (
    value === undefined ||
    (isObject(value) &&
      isOptionalString(value.title) &&
      isOptionalBoolean(value.readOnlyHint) &&
      isOptionalBoolean(value.destructiveHint) &&
      isOptionalBoolean(value.idempotentHint) &&
      isOptionalBoolean(value.openWorldHint))
  );
}

function isPromptArgument(value: unknown): value is PromptArgument {
  return (
    isObject(value) &&
    typeof value.name === "string" &&
    isOptionalString(value.title) &&
    isOptionalString(value.description) &&
    isOptionalBoolean(value.required)
  );
}

/** True for an entry of `prompts/list`. */
export function isPrompt(value: unknown): value is Prompt {
  return isEntry(value) && (value.arguments === undefined || isArrayOf(value.arguments, isPromptArgument));
}

/** True for the contents of a resource, text or base64. */
export function isResourceContents(value: unknown): value is TextResourceContents | BlobResourceContents {
  return (
    isObject(value) &&
    typeof value.uri === "string" &&
    isOptionalString(value.mimeType) &&
    (typeof value.text === "string" || typeof value.blob === "string") &&
    isOptionalObject(value._meta)
  );
}

/** True for a block of a tool's result or a prompt's message. */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (!isObject(value)) return false;
  if (value.type === "resource_link") return isResource(value);
  if (!isOptionalAnnotations(value.annotations) || !isOptionalObject(value._meta)) return false;
  switch (value.type) {
    case "text":
      return typeof value.text === "string";
    case "image":
    case "audio":
      return typeof value.data === "string" && typeof value.mimeType === "string";
    case "resource":
      return isResourceContents(value.resource);
    default:
      return false;
  }
}

/** True for one message of a prompt. */
export function isPromptMessage(value: unknown): value is PromptMessage {
  return isObject(value) && isRole(value.role) && isContentBlock(value.content);
}

function isToolUse(value: Record<string, unknown>): value is Record<string, unknown> & ToolUseContent {
  return (
    value.type === "tool_use" &&
    typeof value.id === "string" &&
    typeof value.name === "string" &&
    isObject(value.input) &&
    isOptionalObject(value._meta)
  );
}

function isToolResult(value: Record<string, unknown>): value is Record<string, unknown> & ToolResultContent {
  return (
    value.type === "tool_result" &&
    typeof value.toolUseId === "string" &&
    isArrayOf(value.content, isContentBlock) &&
    isOptionalBoolean(value.isError) &&
    isOptionalObject(value._meta)
  );
}

/** True for a block of a sampling message. */
export function isSamplingContentBlock(value: unknown): value is SamplingMessageContentBlock {
  if (!isObject(value)) return false;
  switch (value.type) {
    case "tool_use":
      return isToolUse(value);
    case "tool_result":
      return isToolResult(value);
    case "text":
    case "image":
    case "audio":
      return isContentBlock(value);
    default:
      return false;
  }
}

/** True for one message of a conversation with a model. */
export function isSamplingMessage(value: unknown): value is SamplingMessage {
  return (
    isObject(value) &&
    isRole(value.role) &&
    (Array.isArray(value.content)
      ? isArrayOf(value.content, isSamplingContentBlock)
      : isSamplingContentBlock(value.content)) &&
    isOptionalObject(value._meta)
  );
}

/** True for a list of strings. */
export function isStrings(value: unknown): value is string[] {
  return isArrayOf(value, isString);
}
