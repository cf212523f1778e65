// Answers of a client's model and its roots, reduced to what the protocol knows, and the rules of a conversation with tools.
import type { Annotations, ContentBlock, Resource, TextResourceContents, ToolResultContent } from "./content.ts";
import type { CreateMessageResult, Root, SamplingMessage, SamplingMessageContentBlock } from "./input.ts";
import { isCreateMessageResult, isListRootsResult } from "./input-guards.ts";

const MAX_BLOCKS = 256;
const MAX_ROOTS = 256;

/** A copy of those of `keys` that are there. */
function pick<T extends object, K extends keyof T>(value: T, ...keys: K[]): Pick<T, K> {
  const copy = {} as Pick<T, K>;
  for (const key of keys) {
    if (value[key] !== undefined) copy[key] = value[key];
  }
  return copy;
}

function cleanAnnotations(value: { annotations?: Annotations }): { annotations?: Annotations } {
  return value.annotations === undefined
    ? {}
    : { annotations: pick(value.annotations, "audience", "priority", "lastModified") };
}

function cleanContentBlock(block: ContentBlock): ContentBlock {
  switch (block.type) {
    case "text":
      return { ...pick(block, "type", "text", "_meta"), ...cleanAnnotations(block) };
    case "image":
    case "audio":
      return { ...pick(block, "type", "data", "mimeType", "_meta"), ...cleanAnnotations(block) } as ContentBlock;
    case "resource_link":
      return { type: "resource_link", ...cleanResource(block) };
    case "resource":
      return {
        ...pick(block, "type", "_meta"),
        // The guard has seen a text or a blob.
        resource: pick(
          block.resource as TextResourceContents & { blob: string },
          "uri",
          "mimeType",
          "text",
          "blob",
          "_meta",
        ),
        ...cleanAnnotations(block),
      };
  }
}

function cleanResource(resource: Resource): Resource {
  const copy: Resource = {
    ...pick(resource, "uri", "name", "title", "description", "mimeType", "size", "_meta"),
    ...cleanAnnotations(resource),
  };
  if (resource.icons !== undefined) {
    copy.icons = resource.icons.map((icon) => pick(icon, "src", "mimeType", "sizes", "theme"));
  }
  return copy;
}

function cleanSamplingBlock(block: SamplingMessageContentBlock): SamplingMessageContentBlock {
  switch (block.type) {
    case "tool_use":
      return pick(block, "type", "id", "name", "input", "_meta");
    case "tool_result":
      return {
        ...pick(block, "type", "toolUseId", "structuredContent", "isError", "_meta"),
        content: block.content.map(cleanContentBlock),
      };
    default:
      return cleanContentBlock(block) as SamplingMessageContentBlock;
  }
}

function countBlocks(content: SamplingMessage["content"]): number {
  if (!Array.isArray(content)) return content.type === "tool_result" ? 1 + content.content.length : 1;
  let count = 0;
  for (const block of content) count += countBlocks(block);
  return count;
}

/**
 * What a model said, copied with known fields only; undefined when it is unusable: another shape, or more than 256 content
 * blocks, those within tool results included.
 *
 * Strings, `_meta`, tool inputs and structured content stay as they are.
 */
export function cleanCreateMessageResult(value: unknown): CreateMessageResult | undefined {
  if (!isCreateMessageResult(value) || countBlocks(value.content) > MAX_BLOCKS) return undefined;
  return {
    ...pick(value, "role", "model", "stopReason", "_meta"),
    content: Array.isArray(value.content) ? value.content.map(cleanSamplingBlock) : cleanSamplingBlock(value.content),
  };
}

const FILE_URI = /^file:\/\//i;

function isFileUri(uri: string): boolean {
  // A URL parser drops control characters, so that what was checked would not be what is used.
  for (let i = 0; i < uri.length; i++) {
    if (uri.charCodeAt(i) < 0x20) return false;
  }
  return FILE_URI.test(uri) && URL.canParse(uri);
}

/**
 * A client's roots, copied with known fields only; undefined when the answer is unusable: another shape, more than 256 roots, or
 * any URI that is no `file://` URI.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/roots
 */
export function cleanRoots(value: unknown): Root[] | undefined {
  if (!isListRootsResult(value) || value.roots.length > MAX_ROOTS) return undefined;
  const roots: Root[] = [];
  for (const root of value.roots) {
    if (!isFileUri(root.uri)) return undefined;
    roots.push(pick(root, "uri", "name", "_meta"));
  }
  return roots;
}

/**
 * What is wrong with a conversation that uses tools, in one sentence; undefined when nothing is.
 *
 * Tool uses are the assistant's, tool results the user's. A message with a tool result holds nothing else, and answers exactly the
 * tool uses of the message before it, each once.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
 */
export function checkSamplingMessages(messages: readonly SamplingMessage[]): string | undefined {
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const where = `Sampling message ${index + 1}`;
    const blocks = Array.isArray(message.content) ? message.content : [message.content];
    const uses = new Set<string>();
    const results: ToolResultContent[] = [];
    for (const block of blocks) {
      if (block.type === "tool_result") results.push(block);
      if (block.type !== "tool_use") continue;
      if (message.role !== "assistant")
        return `${where} is the user's and holds a tool use: only the assistant uses tools`;
      if (uses.has(block.id)) return `${where} uses the tool id "${block.id}" twice: give each use its own`;
      uses.add(block.id);
    }
    if (results.length > 0) {
      if (message.role !== "user")
        return `${where} is the assistant's and holds a tool result: tool results are the user's`;
      if (results.length < blocks.length)
        return `${where} mixes tool results with other content: send them in a message of their own`;
      for (const { toolUseId } of results) {
        if (!open.delete(toolUseId))
          return `${where} answers "${toolUseId}", which is no open tool use of the message before`;
      }
    }
    if (open.size > 0) return `${where} leaves the tool use "${[...open][0]}" without a result: answer each at once`;
    open = uses;
  }
  return open.size > 0 ? `The last sampling message leaves the tool use "${[...open][0]}" without a result` : undefined;
}
