// What the options of tools, prompts and resources are called: a name that is not here is refused.
import { FLOW_OPTIONS } from "../../flow/index.ts";
import { checkOptions, type OptionNames, VolleyError } from "../../protocol/index.ts";
import type { Described, PromptOptions, StaticResourceOptions, TemplateOptions, ToolOptions } from "./author.ts";
import type { CacheHint } from "./registry.ts";

export const CACHE_HINT: OptionNames<CacheHint> = { ttlMs: true, cacheScope: true };

const DESCRIBED: OptionNames<Described> = { title: true, description: true, icons: true, _meta: true };
const ENTRY = { ...DESCRIBED, ...FLOW_OPTIONS };
const RESOURCE = { ...ENTRY, mimeType: true, annotations: true, cache: true } as const;
const ENTRIES = {
  tool: { ...ENTRY, input: true, output: true, task: true, annotations: true } satisfies OptionNames<ToolOptions>,
  prompt: { ...ENTRY, arguments: true, complete: true } satisfies OptionNames<PromptOptions<unknown>>,
  resource: { ...RESOURCE, size: true } satisfies OptionNames<StaticResourceOptions>,
  "resource template": { ...RESOURCE, complete: true, list: true } satisfies OptionNames<TemplateOptions>,
};

/** @throws VolleyError `registration_invalid` */
export function checkEntry(
  kind: "tool" | "prompt" | "resource" | "resource template",
  where: string,
  options: object & { readonly cache?: CacheHint },
  handler: unknown,
): void {
  checkOptions(where, options, ENTRIES[kind], "registration_invalid");
  checkOptions(`${where}: cache`, options.cache ?? {}, CACHE_HINT, "registration_invalid");
  if (typeof handler === "function") return;
  throw new VolleyError("registration_invalid", `${where} needs a function as its handler, after the options.`);
}
