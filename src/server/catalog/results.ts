import { Buffer } from "node:buffer";
import { ErrorCode, isObject, META, RpcError } from "../../protocol/index.ts";
import type { CacheHint, PromptEntry, ToolEntry } from "./registry.ts";
import { explain } from "./schema.ts";

/** Turns what handlers return into the JSON of results. */
export interface Results {
  /** `"_meta":{...}` with who we are, for results that are put together by hand. */
  readonly meta: string;
  /** Any result; `_meta` of its own is kept. */
  render(result: Record<string, unknown>): string;
  text(text: string): string;
  toolError(text: string): string;
  tool(entry: ToolEntry, value: unknown): string | Promise<string>;
  prompt(entry: PromptEntry, value: unknown): string;
  /** @throws RpcError -32602 when there is no such resource */
  resource(uri: string, mimeType: string | undefined, cache: CacheHint, value: unknown): string;
}

export function createResults(info: Record<string, unknown>): Results {
  const meta = `"_meta":${JSON.stringify({ [META.serverInfo]: info })}`;

  const render = (result: Record<string, unknown>): string => {
    const own = result._meta;
    if (own === undefined) return `${JSON.stringify(result).slice(0, -1)},${meta}}`;
    return JSON.stringify({ ...result, _meta: { [META.serverInfo]: info, ...(isObject(own) ? own : {}) } });
  };
  const text = (value: string): string =>
    `{"resultType":"complete","content":[{"type":"text","text":${JSON.stringify(value)}}],${meta}}`;
  const toolError = (value: string): string =>
    `{"resultType":"complete","content":[{"type":"text","text":${JSON.stringify(value)}}],"isError":true,${meta}}`;

  const structured = async (entry: ToolEntry, result: Record<string, unknown>): Promise<string> => {
    const output = entry.output as NonNullable<ToolEntry["output"]>;
    const checked = await output.validate(result.structuredContent);
    if (checked.issues) {
      throw new TypeError(`The result of "${entry.name}" does not fit its output schema:\n${explain(checked.issues)}`);
    }
    const content = result.content ?? [{ type: "text", text: JSON.stringify(checked.value) }];
    return render({ resultType: "complete", ...result, content, structuredContent: checked.value });
  };

  return {
    meta,
    render,
    text,
    toolError,

    tool(entry, value) {
      if (entry.output) {
        // A value for the schema, unless it says itself that it is a whole result.
        if (isObject(value) && (Object.hasOwn(value, "structuredContent") || value.isError === true)) {
          return value.isError === true ? toolResult(entry, value, render) : structured(entry, value);
        }
        return structured(entry, { structuredContent: value });
      }
      if (typeof value === "string") return text(value);
      return toolResult(entry, value, render);
    },

    prompt(entry, value) {
      if (typeof value === "string") {
        return render({ resultType: "complete", messages: [{ role: "user", content: { type: "text", text: value } }] });
      }
      if (Array.isArray(value)) return render({ resultType: "complete", messages: value });
      if (isObject(value) && Array.isArray(value.messages)) return render({ ...value, resultType: "complete" });
      throw new TypeError(`Prompt "${entry.name}" must return a string, messages, or { messages }.`);
    },

    resource(uri, mimeType, cache, value) {
      const found =
        isObject(value) && Array.isArray(value.contents) ? value : { contents: contentsOf(uri, mimeType, value) };
      const contents = found.contents as readonly unknown[];
      // An empty list could mean either, so it is never sent.
      if (contents.length === 0) throw notFound(uri);
      const { ttlMs, cacheScope } = cache;
      return render({ ttlMs, cacheScope, ...found, resultType: "complete", contents: contents.map(blobs) });
    },
  };
}

function toolResult(entry: ToolEntry, value: unknown, render: Results["render"]): string {
  if (value === undefined || value === null) return render({ resultType: "complete", content: [] });
  if (Array.isArray(value) && value.every(isBlock)) return render({ resultType: "complete", content: value });
  if (isObject(value) && Array.isArray(value.content)) return render({ ...value, resultType: "complete" });
  throw new TypeError(
    `Tool "${entry.name}" must return a string, content blocks, or { content }; any other value needs an \`output\` schema.`,
  );
}

function isBlock(value: unknown): boolean {
  return isObject(value) && typeof value.type === "string";
}

function contentsOf(uri: string, mimeType: string | undefined, value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  const about = mimeType === undefined ? { uri } : { uri, mimeType };
  if (typeof value === "string") return [{ ...about, text: value }];
  if (value instanceof Uint8Array) return [{ ...about, blob: value }];
  if (Array.isArray(value))
    return value.map((content: unknown) => (isObject(content) ? { ...about, ...content } : content));
  if (isObject(value) && ("text" in value || "blob" in value)) return [{ ...about, ...value }];
  throw new TypeError(`Resource "${uri}" must return a string, bytes, contents, or undefined where there is nothing.`);
}

function blobs(content: unknown): unknown {
  if (!isObject(content) || !(content.blob instanceof Uint8Array)) return content;
  const { buffer, byteOffset, byteLength } = content.blob;
  return { ...content, blob: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}

/** @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#error-handling */
export function notFound(uri: string): RpcError {
  return new RpcError(ErrorCode.InvalidParams, "Resource not found", { uri });
}
