// From what an author registers to entries with everything computed that a request would otherwise compute.
import { type Context, defineFlow } from "../flow/index.ts";
import { isObject, type PromptArgument, paramHeaders, VolleyError } from "../protocol/index.ts";
import type {
  Described,
  PromptHandler,
  PromptOptions,
  ResourceHandler,
  ResourceOptions,
  StaticResourceOptions,
  TemplateHandler,
  TemplateOptions,
  ToolOptions,
} from "./author.ts";
import { checkEntry } from "./option-names.ts";
import type { CacheHint } from "./options.ts";
import {
  type Completer,
  compileTemplate,
  type PromptEntry,
  type ResourceEntry,
  type TemplateEntry,
  type ToolEntry,
} from "./registry.ts";
import { readObjectSchema, readSchema } from "./schema.ts";

const NO_CACHE: CacheHint = { ttlMs: 0, cacheScope: "private" };
const NO_ARGUMENTS = { type: "object", additionalProperties: false };

export function toolEntry(
  name: string,
  options: ToolOptions,
  handler: (args: never, ctx: Context) => unknown,
): ToolEntry {
  const where = `tool "${name}"`;
  checkEntry("tool", where, options, handler);
  const input = options.input === undefined ? undefined : readObjectSchema(options.input, `${where}: input`);
  const output = options.output === undefined ? undefined : readSchema(options.output, "output", `${where}: output`);
  const inputSchema = input?.json ?? NO_ARGUMENTS;
  return {
    name,
    definition: defineFlow("tool", name, options),
    input,
    output,
    headers: paramHeaders(inputSchema),
    task: options.task,
    listing: list(
      { name, inputSchema, outputSchema: output?.json, annotations: options.annotations, ...described(options) },
      where,
    ),
    handler: handler as ToolEntry["handler"],
  };
}

export function promptEntry(name: string, options: PromptOptions<unknown>, handler: PromptHandler<never>): PromptEntry {
  const where = `prompt "${name}"`;
  checkEntry("prompt", where, options, handler);
  const input =
    options.arguments === undefined ? undefined : readObjectSchema(options.arguments, `${where}: arguments`);
  const listed = input ? promptArguments(input.json, where) : undefined;
  const completers = readCompleters(options.complete, new Set(listed?.map((argument) => argument.name)), where);
  return {
    name,
    definition: defineFlow("prompt", name, options),
    input,
    completers,
    listing: list({ name, arguments: listed, ...described(options) }, where),
    handler: handler as PromptEntry["handler"],
  };
}

export function resourceEntry(
  name: string,
  uri: string,
  options: StaticResourceOptions,
  handler: ResourceHandler,
): ResourceEntry {
  const where = `resource "${name}"`;
  checkEntry("resource", where, options, handler);
  if (!URL.canParse(uri)) throw new VolleyError("registration_invalid", `${where}: "${uri}" is no absolute URI.`);
  return {
    uri,
    definition: defineFlow("resource", name, options),
    mimeType: options.mimeType,
    cache: options.cache ?? NO_CACHE,
    listing: list({ name, uri, size: options.size, ...aboutResource(options) }, where),
    handler,
  };
}

export function templateEntry<Template extends string>(
  name: string,
  template: Template,
  options: TemplateOptions,
  handler: TemplateHandler<Template>,
): TemplateEntry {
  const where = `resource template "${name}"`;
  checkEntry("resource template", where, options, handler);
  const variables = new Set(variablesOf(template));
  if (variables.size === 0) {
    throw new VolleyError("registration_invalid", `${where}: "${template}" has no variables; register a resource.`);
  }
  return {
    template,
    definition: defineFlow("resource", name, options),
    mimeType: options.mimeType,
    cache: options.cache ?? NO_CACHE,
    completers: readCompleters(options.complete, variables, where),
    match: compileTemplate(template),
    list: options.list,
    listing: list({ name, uriTemplate: template, ...aboutResource(options) }, where),
    handler: handler as TemplateEntry["handler"],
  };
}

function described({ title, description, icons, _meta }: Described): Record<string, unknown> {
  return { title, description, icons, _meta };
}

function aboutResource(options: ResourceOptions): Record<string, unknown> {
  return { mimeType: options.mimeType, annotations: options.annotations, ...described(options) };
}

/** The JSON of a list entry; fields without a value are left out. */
function list(entry: Record<string, unknown>, where: string): string {
  try {
    return JSON.stringify(entry);
  } catch (cause) {
    throw new VolleyError("registration_invalid", `${where}: its description is not JSON.`, { cause });
  }
}

function promptArguments(json: Record<string, unknown>, where: string): PromptArgument[] {
  const properties = isObject(json.properties) ? json.properties : {};
  const required = new Set(Array.isArray(json.required) ? json.required : []);
  return Object.entries(properties).map(([name, property]) => {
    if (!isObject(property) || !takesStrings(property)) {
      throw new VolleyError("registration_invalid", `${where}: the argument "${name}" must be a string.`);
    }
    const argument: PromptArgument = { name };
    if (typeof property.title === "string") argument.title = property.title;
    if (typeof property.description === "string") argument.description = property.description;
    if (required.has(name)) argument.required = true;
    return argument;
  });
}

function takesStrings(property: Record<string, unknown>): boolean {
  if (property.type !== undefined) return property.type === "string";
  if (typeof property.const === "string") return true;
  const options = property.enum ?? property.anyOf ?? property.oneOf;
  return (
    Array.isArray(options) &&
    options.every((option) => typeof option === "string" || (isObject(option) && takesStrings(option)))
  );
}

function readCompleters(
  complete: Readonly<Record<string, Completer>> | undefined,
  known: ReadonlySet<string>,
  where: string,
): ReadonlyMap<string, Completer> {
  const completers = new Map(Object.entries(complete ?? {}));
  for (const name of completers.keys()) {
    if (!known.has(name)) {
      throw new VolleyError("registration_invalid", `${where}: \`complete\` names "${name}", which it does not have.`);
    }
  }
  return completers;
}

/** The variable names of an RFC 6570 template. */
function variablesOf(template: string): string[] {
  return [...template.matchAll(/\{[+#./;?&]?([^}]*)\}/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.replace(/(?:\*|:\d+)$/, "")),
  );
}
