// What the options of this folder are called: a name that is not here is refused.
import { FLOW_OPTIONS } from "../flow/index.ts";
import { checkOptions, type OptionNames, VolleyError } from "../protocol/index.ts";
import type { Described, PromptOptions, StaticResourceOptions, TemplateOptions, ToolOptions } from "./author.ts";
import type { CacheHint, CorsOptions, ServerOptions } from "./options.ts";

const SERVER: OptionNames<ServerOptions> = {
  name: true,
  version: true,
  title: true,
  description: true,
  icons: true,
  websiteUrl: true,
  instructions: true,
  keys: true,
  audience: true,
  singleInstance: true,
  authenticate: true,
  challenge: true,
  allowedOrigins: true,
  allowedHosts: true,
  cors: true,
  limits: true,
  rateLimiter: true,
  ledger: true,
  tasks: true,
  shedding: true,
  bus: true,
  clock: true,
  random: true,
  trace: true,
  development: true,
  errors: true,
  cache: true,
  pageSize: true,
};
const CACHE: OptionNames<CacheHint> = { ttlMs: true, cacheScope: true };
const CORS: OptionNames<CorsOptions> = { allowHeaders: true, maxAgeSeconds: true };

const DESCRIBED: OptionNames<Described> = { title: true, description: true, icons: true, _meta: true };
const ENTRY = { ...DESCRIBED, ...FLOW_OPTIONS };
const RESOURCE = { ...ENTRY, mimeType: true, annotations: true, cache: true } as const;
const ENTRIES = {
  tool: { ...ENTRY, input: true, output: true, task: true, annotations: true } satisfies OptionNames<ToolOptions>,
  prompt: { ...ENTRY, arguments: true, complete: true } satisfies OptionNames<PromptOptions<unknown>>,
  resource: { ...RESOURCE, size: true } satisfies OptionNames<StaticResourceOptions>,
  "resource template": { ...RESOURCE, complete: true, list: true } satisfies OptionNames<TemplateOptions>,
};

/** @throws VolleyError `invalid_options` */
export function checkServerOptions(options: ServerOptions): void {
  checkOptions("createServer", options, SERVER);
  checkOptions("createServer: cache", options.cache ?? {}, CACHE);
  checkOptions("createServer: cors", options.cors || {}, CORS);
}

/** @throws VolleyError `registration_invalid` */
export function checkEntry(
  kind: "tool" | "prompt" | "resource" | "resource template",
  where: string,
  options: object & { readonly cache?: CacheHint },
  handler: unknown,
): void {
  checkOptions(where, options, ENTRIES[kind], "registration_invalid");
  checkOptions(`${where}: cache`, options.cache ?? {}, CACHE, "registration_invalid");
  if (typeof handler === "function") return;
  throw new VolleyError("registration_invalid", `${where} needs a function as its handler, after the options.`);
}
