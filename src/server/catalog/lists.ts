import { ErrorCode, RpcError } from "../../protocol/index.ts";
import type { Key, Keyring } from "../../state/index.ts";
import type { CacheHint } from "./registry.ts";

/** A list as it is asked for: its method, and the field of the result that holds the entries. */
export const LISTS = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
} as const;

export type ListMethod = keyof typeof LISTS;

const MAC_BYTES = 16;

/** Cursors that say where a list goes on: readable by every instance with our keys, forgeable by nobody. */
export interface Cursors {
  write(method: ListMethod, offset: number): string;
  /** @throws RpcError -32602 for anything that `write` did not make for this method */
  read(method: ListMethod, cursor: string): number;
}

export function createCursors(keyring: Keyring): Cursors {
  const write = (key: Key, method: ListMethod, offset: number): string => {
    const mac = key.mac("cursor", `${method}\n${offset}`).subarray(0, MAC_BYTES);
    return `${key.kid}.${offset}.${mac.toString("base64url")}`;
  };
  return {
    write: (method, offset) => write(keyring.sealing, method, offset),
    read(method, cursor) {
      // Written again and compared whole, so a cursor has exactly one spelling. What it protects is no secret.
      const [kid = "", digits = ""] = cursor.split(".", 2);
      const key = keyring.find(kid);
      const offset = Number(digits);
      if (key && Number.isSafeInteger(offset) && write(key, method, offset) === cursor) return offset;
      throw new RpcError(
        ErrorCode.InvalidParams,
        "The cursor is not one of this list's, or the list has changed. Start again without a cursor.",
      );
    },
  };
}

/** A list cut into pages, each the JSON of a whole result. */
export interface Pages {
  /** @throws RpcError -32602 for a cursor that leads nowhere */
  page(cursor: string | undefined): string;
}

export interface PageOptions {
  readonly method: ListMethod;
  readonly cursors: Cursors;
  readonly pageSize: number;
  readonly cache: CacheHint;
  /** `"_meta":{...}` of every result. */
  readonly meta: string;
}

/** Renders the pages of a list ahead of the requests for them. */
export function renderPages(entries: readonly string[], options: PageOptions): Pages {
  const { method, cursors, pageSize, cache, meta } = options;
  const pages: string[] = [];
  let offset = 0;
  do {
    const next = offset + pageSize;
    const more = next < entries.length ? `"nextCursor":"${cursors.write(method, next)}",` : "";
    pages.push(
      `{"resultType":"complete","${LISTS[method]}":[${entries.slice(offset, next).join(",")}],` +
        `${more}"ttlMs":${cache.ttlMs},"cacheScope":"${cache.cacheScope}",${meta}}`,
    );
    offset = next;
  } while (offset < entries.length);
  return {
    page(cursor) {
      if (cursor === undefined) return pages[0] as string;
      const at = cursors.read(method, cursor) / pageSize;
      const page = pages[at];
      // Authentic, but of a list that was longer or cut otherwise.
      if (page === undefined) {
        throw new RpcError(ErrorCode.InvalidParams, "The list has changed. Start again without a cursor.");
      }
      return page;
    },
  };
}
