// Results that are a little off: read without that.
import { isObject, VolleyError } from "../protocol/index.ts";
import type { Shape } from "./results.ts";

const BLOCK_TYPES: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link"]);
// Members that hold what is not the protocol's: null has a meaning there.
const OPAQUE: ReadonlySet<string> = new Set(["structuredContent", "_meta", "inputSchema", "outputSchema"]);
/** Deeper than any member of the protocol's lies. */
const MAX_DEPTH = 8;
const MAX_NAMED = 5;

/** Mends a result and says what was off; throws VolleyError `message_invalid` when it cannot. */
export function mend<T>(
  shape: Shape<T>,
  result: unknown,
  subject: string,
): { readonly mended: T; readonly off: string } {
  const off: string[] = [];
  const mended = withoutFaults(shape, result, off);
  if (!shape.isResult(mended)) {
    throw new VolleyError(
      "message_invalid",
      `The server answered ${subject} with a result that is none: ${faultOf(shape, mended)}.`,
      { cause: result },
    );
  }
  const more = off.length > MAX_NAMED ? `; and ${off.length - MAX_NAMED} more` : "";
  return { mended, off: off.slice(0, MAX_NAMED).join("; ") + more };
}

function withoutFaults({ list, isEntry }: Shape<unknown>, result: unknown, off: string[]): unknown {
  const mended = withoutNulls(result, "", MAX_DEPTH, off);
  if (!isObject(mended)) return mended;
  if (list === "content" && mended.content === undefined && mended.structuredContent !== undefined) {
    mended.content = [];
    off.push("content is missing");
  }
  const entries = mended[list];
  if (!Array.isArray(entries)) return mended;
  mended[list] = entries.flatMap((entry: unknown, index) => {
    if (!isObject(entry) || isEntry(entry)) return [entry];
    const path = `${list}[${index}]`;
    if (list === "content" && typeof entry.type === "string" && !BLOCK_TYPES.has(entry.type)) {
      off.push(`${path} is of the unknown type ${quote(entry.type)}`);
      return [];
    }
    const wrong = memberAtFault(entry, isEntry);
    if (wrong === undefined) return [entry];
    off.push(`${path}.${wrong} is not as it should be`);
    return [without(entry, wrong)];
  });
  return mended;
}

function withoutNulls(value: unknown, path: string, depth: number, off: string[]): unknown {
  if (depth === 0) return value;
  if (Array.isArray(value)) return value.map((item, index) => withoutNulls(item, `${path}[${index}]`, depth - 1, off));
  if (!isObject(value)) return value;
  const kept: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    const place = path === "" ? key : `${path}.${key}`;
    if (member === null && key !== "structuredContent") off.push(`${place} is null`);
    else kept.push([key, OPAQUE.has(key) ? member : withoutNulls(member, place, depth - 1, off)]);
  }
  return Object.fromEntries(kept);
}

/** The member without which a value would be right. */
function memberAtFault(value: Record<string, unknown>, isRight: (value: unknown) => boolean): string | undefined {
  return Object.keys(value).find((key) => isRight(without(value, key)));
}

function without(value: Record<string, unknown>, key: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}

function faultOf({ list, isEntry, isResult }: Shape<unknown>, result: unknown): string {
  if (!isObject(result)) return "it is no object";
  const entries = result[list];
  if (!Array.isArray(entries)) return `${list} is no list`;
  const index = entries.findIndex((entry) => !isEntry(entry));
  if (index < 0) return `${memberAtFault(result, isResult) ?? "what it holds"} is not as it should be`;
  const entry: unknown = entries[index];
  const label = isObject(entry) ? (entry.name ?? entry.uri ?? entry.type) : undefined;
  return `${list}[${index}]${typeof label === "string" ? ` (${quote(label)})` : ""} is not as it should be`;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 128));
}
