import { UriTemplateMatcher } from "uri-template-matcher";
import type { Context, FlowDefinition } from "../../flow/index.ts";
import type { ParamHeader } from "../../protocol/index.ts";
import { VolleyError } from "../../protocol/index.ts";
import type { Principal } from "../../state/index.ts";
import type { Checker } from "./schema.ts";

/** Completes one argument or variable: what may follow `value`, best first. */
export type Completer = (
  value: string,
  context: { readonly arguments: Readonly<Record<string, string>> },
) => readonly string[] | Promise<readonly string[]>;

/** How long clients may keep a result. */
export interface CacheHint {
  /** Milliseconds, 0 or more. */
  readonly ttlMs: number;
  /** `"public"` lets a shared cache hand the result to anybody. */
  readonly cacheScope: "public" | "private";
}

interface Entry {
  readonly definition: FlowDefinition;
  /** The entry as its list shows it, already JSON. */
  readonly listing: string;
}

export interface ToolEntry extends Entry {
  readonly name: string;
  readonly input: Checker | undefined;
  readonly output: Checker | undefined;
  readonly headers: readonly ParamHeader[];
  readonly task: "required" | "optional" | undefined;
  readonly handler: (args: Record<string, unknown>, ctx: Context) => unknown;
}

export interface PromptEntry extends Entry {
  readonly name: string;
  readonly input: Checker | undefined;
  readonly completers: ReadonlyMap<string, Completer>;
  readonly handler: (args: Record<string, unknown>, ctx: Context) => unknown;
}

export interface ResourceEntry extends Entry {
  readonly uri: string;
  readonly mimeType: string | undefined;
  readonly cache: CacheHint;
  readonly handler: (uri: string, ctx: Context) => unknown;
}

/** What a template may add to `resources/list` for a caller. */
export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Lists what of a template exists for a caller. */
export type ResourceLister = (caller: {
  readonly principal: Principal;
}) => readonly ListedResource[] | Promise<readonly ListedResource[]>;

export interface TemplateEntry extends Entry {
  readonly template: string;
  readonly mimeType: string | undefined;
  readonly cache: CacheHint;
  readonly completers: ReadonlyMap<string, Completer>;
  /** The variables of a URI that this template describes, or undefined. */
  match(uri: string): Record<string, string> | undefined;
  readonly list: ResourceLister | undefined;
  readonly handler: (variables: Record<string, string>, ctx: Context, uri: string) => unknown;
}

/** Everything that was registered, by name or URI. Peers' strings meet Maps only. */
export interface Registry {
  readonly tools: Map<string, ToolEntry>;
  readonly prompts: Map<string, PromptEntry>;
  readonly resources: Map<string, ResourceEntry>;
  readonly templates: Map<string, TemplateEntry>;
}

export function createRegistry(): Registry {
  return { tools: new Map(), prompts: new Map(), resources: new Map(), templates: new Map() };
}

/** Adds an entry under a key that must be new. */
export function add<T>(entries: Map<string, T>, kind: string, key: string, entry: T): void {
  if (typeof key !== "string" || key === "") {
    throw new VolleyError("registration_invalid", `A ${kind} needs a name that is not empty.`);
  }
  if (entries.has(key)) throw new VolleyError("registration_invalid", `The ${kind} "${key}" is registered already.`);
  entries.set(key, entry);
}

/** URIs longer than this match no template: matching may go back and forth over the whole string. */
const LONGEST_URI = 8_192;

/**
 * Compiles an RFC 6570 template to a matcher. Variables come decoded, lists joined by commas.
 *
 * @throws VolleyError `registration_invalid`
 */
export function compileTemplate(template: string): (uri: string) => Record<string, string> | undefined {
  const matcher = new UriTemplateMatcher();
  try {
    matcher.add(template);
  } catch (cause) {
    throw new VolleyError("registration_invalid", `"${template}" is no RFC 6570 URI template.`, { cause });
  }
  return (uri) => {
    if (uri.length > LONGEST_URI) return undefined;
    let found: ReturnType<UriTemplateMatcher["match"]>;
    try {
      found = matcher.match(uri);
    } catch {
      return undefined; // a URI with broken percent-encoding is not one of these
    }
    if (!found) return undefined;
    const variables: Record<string, string> = Object.create(null);
    for (const [name, value] of Object.entries(found.params)) {
      variables[name] = Array.isArray(value) ? value.join(",") : value;
    }
    return variables;
  };
}
