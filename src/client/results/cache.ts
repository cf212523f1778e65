// Results that their server lets be kept for a while.
import type { Result } from "../../protocol/index.ts";

/**
 * Keeps results by method and the param that matters, for as long as their `ttlMs` says.
 *
 * One cache belongs to one client and so to one authorization; private results are dropped when that changes.
 * What was dropped while a request was under way is not put back by its answer.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
export interface ResultCache {
  /** The fresh result, which is shared and therefore frozen. */
  get(method: string, param: string | undefined): Result | undefined;
  /** Call before the request; the returned function keeps its answer, if it may be kept. */
  open(method: string, param: string | undefined): (result: Result) => void;
  /** Drops every result of a method. */
  drop(method: string): void;
  /** Drops one result. */
  dropOne(method: string, param: string | undefined): void;
  /** Drops what was meant for one authorization only. */
  dropPrivate(): void;
}

interface Entry {
  readonly method: string;
  readonly result: Result;
  readonly until: number;
}

/** More than any honest server has pages; the oldest go first. */
const MAX_ENTRIES = 1_000;

/** Makes an empty cache; `now` in milliseconds. */
export function createCache(now: () => number): ResultCache {
  const entries = new Map<string, Entry>();
  let drops = 0;
  const keyOf = (method: string, param: string | undefined): string => JSON.stringify([method, param ?? null]);

  function dropWhere(test: (entry: Entry) => boolean): void {
    drops++;
    for (const [key, entry] of entries) if (test(entry)) entries.delete(key);
  }

  return {
    get(method, param) {
      const entry = entries.get(keyOf(method, param));
      return entry !== undefined && now() < entry.until ? entry.result : undefined;
    },
    open(method, param) {
      const before = drops;
      return (result) => {
        const { ttlMs } = result;
        if (drops !== before || typeof ttlMs !== "number" || !(ttlMs > 0)) return;
        const key = keyOf(method, param);
        entries.delete(key);
        for (const oldest of entries.keys()) {
          if (entries.size < MAX_ENTRIES) break;
          entries.delete(oldest);
        }
        entries.set(key, { method, result: freeze(result), until: now() + ttlMs });
      };
    },
    drop(method) {
      dropWhere((entry) => entry.method === method);
    },
    dropOne(method, param) {
      drops++;
      entries.delete(keyOf(method, param));
    },
    dropPrivate() {
      dropWhere((entry) => entry.result.cacheScope !== "public");
    },
  };
}

/** Freezes a JSON value of any depth in place. */
function freeze(result: Result): Result {
  const open: object[] = [result];
  for (const value of open) {
    Object.freeze(value);
    for (const member of Object.values(value)) if (typeof member === "object" && member !== null) open.push(member);
  }
  return result;
}
