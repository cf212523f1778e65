// Lists: their pages, one by one or together.
import {
  ErrorCode,
  type ListPromptsResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  type Prompt,
  type Received,
  type Resource,
  type ResourceTemplate,
  RpcError,
  type Tool,
  VolleyError,
} from "../protocol/index.ts";
import type { RequestOptions } from "./options.ts";

/** The pages of each list. */
export interface ListPages {
  "tools/list": Received<ListToolsResult>;
  "prompts/list": Received<ListPromptsResult>;
  "resources/list": Received<ListResourcesResult>;
  "resources/templates/list": Received<ListResourceTemplatesResult>;
}

/** The entries of each list. */
export interface ListEntries {
  "tools/list": Tool;
  "prompts/list": Prompt;
  "resources/list": Resource;
  "resources/templates/list": ResourceTemplate;
}

/** The methods that list something. */
export type ListMethod = keyof ListPages;

/** Fetches the page at a cursor, the first one without. */
export type FetchPage = <M extends ListMethod>(
  method: M,
  cursor: string | undefined,
  options: RequestOptions,
) => Promise<ListPages[M]>;

const entriesOf: { readonly [M in ListMethod]: (page: ListPages[M]) => readonly ListEntries[M][] } = {
  "tools/list": (page) => page.tools,
  "prompts/list": (page) => page.prompts,
  "resources/list": (page) => page.resources,
  "resources/templates/list": (page) => page.resourceTemplates,
};

/** A list of more pages has no end that anybody would wait for. */
const MAX_PAGES = 1_000;

/** Yields the pages of a list; a server that goes round in circles is a VolleyError `message_invalid`. */
export async function* pagesOf<M extends ListMethod>(
  method: M,
  fetchPage: FetchPage,
  options: RequestOptions,
): AsyncGenerator<ListPages[M], void, undefined> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page: ListPages[M] = await fetchPage(method, cursor, options);
    yield page;
    cursor = page.nextCursor;
    if (cursor !== undefined && seen.has(cursor)) {
      throw new VolleyError("message_invalid", `The server's ${method} comes back to a page that was there before.`);
    }
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
}

/**
 * Collects a whole list. A cursor that the server no longer accepts means that the list has changed: what is cached of
 * it is dropped by `forget` and it is read again from the beginning, once.
 */
export async function collect<M extends ListMethod>(
  method: M,
  fetchPage: FetchPage,
  forget: () => void,
  options: RequestOptions,
): Promise<ListEntries[M][]> {
  for (let isRetry = false; ; isRetry = true) {
    const entries: ListEntries[M][] = [];
    let pages = 0;
    try {
      for await (const page of pagesOf(method, fetchPage, options)) {
        if (++pages > MAX_PAGES)
          throw new VolleyError(
            "message_invalid",
            `The server's ${method} has more than ${MAX_PAGES} pages: read it with pages().`,
          );
        for (const entry of entriesOf[method](page)) entries.push(entry);
      }
      return entries;
    } catch (error) {
      if (isRetry || pages === 0 || !RpcError.is(error) || error.code !== ErrorCode.InvalidParams) throw error;
      forget();
    }
  }
}
