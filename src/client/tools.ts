// What the client knows about a server's tools: which parameters go into headers, what the results have to look like.
import {
  type CallToolResult,
  ErrorCode,
  encodeParam,
  type ParamHeader,
  paramHeaders,
  paramValue,
  RpcError,
  type Tool,
  VolleyError,
} from "../protocol/index.ts";
import type { Connection } from "./connection.ts";
import { createOutputChecker } from "./output.ts";

/** The tools of one server, by name. */
export interface ToolDirectory {
  /** Notes the tools of a page, and returns those that may be used. */
  take(tools: readonly Tool[]): Tool[];
  /** The `Mcp-Param-*` headers of a call; a promise when the tools have to be listed first. */
  headersFor(name: string, args: unknown): ParamHeaders | Promise<ParamHeaders>;
  /** Throws VolleyError `message_invalid`, the result as its cause, when it is not what its tool promised. */
  check(name: string, result: CallToolResult): Promise<void>;
  /** Forgets everything, so that the next call lists again. */
  forget(): void;
}

/** Header values by name. */
export type ParamHeaders = Readonly<Record<string, string>>;

interface Known {
  readonly tool: Tool;
  readonly headers: readonly ParamHeader[];
}

const NONE: ParamHeaders = Object.freeze({});

/** The list that a directory draws from. */
export interface ToolSource {
  /** Reads all pages of `tools/list`, each of which comes by {@link ToolDirectory.take}. */
  list(): Promise<unknown>;
  /** Forgets the pages that are cached. */
  drop(): void;
}

/** Makes a directory. */
export function createToolDirectory(connection: Connection, source: ToolSource): ToolDirectory {
  const { onWarning } = connection.settings;
  const sendsHeaders = connection.kind === "http";
  const outputs = createOutputChecker(onWarning);
  let known = new Map<string, Known | VolleyError>();
  // Names that are in no list: a server that answers them all the same will say -32020 if a header is missing.
  let absent = new Set<string>();
  let listing: Promise<unknown> | undefined;

  async function find(name: string): Promise<Known | undefined> {
    if (!known.has(name) && !absent.has(name)) {
      listing ??= source.list().finally(() => {
        listing = undefined;
      });
      try {
        await listing;
        if (!known.has(name)) absent.add(name);
      } catch (error) {
        // A server that does not list its tools may still have them; what else is wrong, the call itself will say.
        if (!RpcError.is(error)) throw error;
        if (error.code === ErrorCode.MethodNotFound) absent.add(name);
      }
    }
    const found = known.get(name);
    if (found instanceof VolleyError) throw found;
    return found;
  }

  async function judge(found: Known | undefined, result: CallToolResult): Promise<void> {
    if (found?.tool.outputSchema === undefined) return;
    const { name, outputSchema } = found.tool;
    const { structuredContent } = result;
    const problem =
      structuredContent === undefined
        ? "there is no structured content"
        : await outputs.problemWith(name, outputSchema, structuredContent);
    if (problem === undefined) return;
    // The tool has done its work: whoever can use the result all the same finds it here.
    throw new VolleyError(
      "message_invalid",
      `The result of the tool "${name}" does not fit its output schema: ${problem}.`,
      { cause: result },
    );
  }

  function forget(): void {
    known = new Map();
    absent = new Set();
    source.drop();
  }

  return {
    forget,
    take(tools) {
      return tools.filter((tool) => {
        absent.delete(tool.name);
        try {
          known.set(tool.name, { tool, headers: sendsHeaders ? paramHeaders(tool.inputSchema) : [] });
          return true;
        } catch (cause) {
          const error = unusable(tool.name, cause);
          known.set(tool.name, error);
          onWarning(error.message);
          return false;
        }
      });
    },
    headersFor(name, args) {
      if (!sendsHeaders) return NONE;
      const found = known.get(name);
      if (found instanceof VolleyError) throw found;
      if (found !== undefined) return headersOf(found, args);
      return absent.has(name)
        ? NONE
        : find(name).then((listed) => (listed === undefined ? NONE : headersOf(listed, args)));
    },
    async check(name, result) {
      if (result.isError === true) return;
      const noted = known.get(name);
      const isListed = noted !== undefined && !(noted instanceof VolleyError);
      // A result without structure is only worth a list of its own if a promise of one is known.
      if (!isListed && result.structuredContent === undefined) return;
      try {
        await judge(await find(name), result);
      } catch (error) {
        // The tool may have changed since it was listed.
        forget();
        const listed = await find(name).catch(() => {
          throw error;
        });
        await judge(listed, result);
      }
    },
  };
}

function headersOf({ tool, headers }: Known, args: unknown): ParamHeaders {
  if (headers.length === 0) return NONE;
  const made: Record<string, string> = {};
  for (const { header, path } of headers) {
    const value = paramValue(args, path);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw unsafe(path.join("."), tool.name);
    const encoded = encodeParam(value);
    if (encoded !== undefined) made[header] = encoded;
  }
  return made;
}

/** No header can mirror it, so that the server would refuse the call for a reason that helps nobody. */
function unsafe(argument: string, tool: string): VolleyError {
  return new VolleyError(
    "invalid_options",
    `The argument "${argument}" of the tool "${tool}" is an integer beyond 2^53 - 1, which not every program reads as the same number: give a smaller one.`,
  );
}

function unusable(name: string, cause: unknown): VolleyError {
  return new VolleyError(
    "message_invalid",
    `The tool "${name}" is left out, since its definition breaks a rule: ${(cause as Error).message}. Tell whoever runs the server.`,
    { cause },
  );
}
