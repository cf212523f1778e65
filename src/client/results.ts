// Results as servers send them.
import {
  isCallToolResult,
  isContentBlock,
  isGetPromptResult,
  isListPromptsResult,
  isListResourcesResult,
  isListResourceTemplatesResult,
  isListToolsResult,
  isPrompt,
  isPromptMessage,
  isReadResourceResult,
  isResource,
  isResourceContents,
  isResourceTemplate,
  isTool,
} from "../protocol/index.ts";
import type { ListPages } from "./lists.ts";
import type { RoundResults } from "./rounds.ts";

/** The results that hold a list of entries. */
export type ListedResults = ListPages & RoundResults;

/**
 * Reads a result; throws VolleyError `message_invalid`, which names what is at fault and has the result as its cause.
 *
 * What may be absent and is null (as some libraries write it), or is not as it should be, is left out; so are blocks of an
 * unknown type. That is a warning, once a subject.
 *
 * @param subject what was asked, for messages
 */
export type ResultReader = <M extends keyof ListedResults>(
  method: M,
  result: unknown,
  subject: string,
) => Promise<ListedResults[M]>;

/** What a result of a method looks like. */
export interface Shape<T> {
  readonly isResult: (value: unknown) => value is T;
  readonly list: string;
  readonly isEntry: (value: unknown) => boolean;
}

const shapes: { readonly [M in keyof ListedResults]: Shape<ListedResults[M]> } = {
  "tools/call": { isResult: isCallToolResult, list: "content", isEntry: isContentBlock },
  "prompts/get": { isResult: isGetPromptResult, list: "messages", isEntry: isPromptMessage },
  "resources/read": { isResult: isReadResourceResult, list: "contents", isEntry: isResourceContents },
  "tools/list": { isResult: isListToolsResult, list: "tools", isEntry: isTool },
  "prompts/list": { isResult: isListPromptsResult, list: "prompts", isEntry: isPrompt },
  "resources/list": { isResult: isListResourcesResult, list: "resources", isEntry: isResource },
  "resources/templates/list": {
    isResult: isListResourceTemplatesResult,
    list: "resourceTemplates",
    isEntry: isResourceTemplate,
  },
};

const MAX_WARNED = 1_000;

/** Makes a reader; what mends results is loaded with the first that needs it. */
export function createResultReader(onWarning: (warning: string) => void): ResultReader {
  const warned = new Set<string>();
  return async (method, result, subject) => {
    const shape = shapes[method];
    if (shape.isResult(result)) return result;
    const { mend } = await import("./mend.ts");
    const { mended, off } = mend(shape, result, subject);
    if (!warned.has(subject) && warned.size < MAX_WARNED) {
      warned.add(subject);
      onWarning(`The server answered ${subject} with what breaks a rule, and is used without it: ${off}.`);
    }
    return mended;
  };
}
