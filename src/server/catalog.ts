import {
  checkJson,
  PROTOCOL_VERSION,
  type PromptReference,
  type ResourceTemplateReference,
  readCompleteParams,
  readCursor,
  type ServerCapabilities,
  TASKS_EXTENSION,
} from "../protocol/index.ts";
import { guard } from "./error-policy.ts";
import { createCursors, type ListMethod, type Pages, renderPages } from "./lists.ts";
import type { Method, Request, Services } from "./methods.ts";
import type { CacheHint } from "./options.ts";
import { invalidParams, methodNotFound } from "./refusal.ts";
import type { Completer, ListedResource } from "./registry.ts";

/** What the server says about itself: rendered when it changes, not when it is asked for. */
export interface Catalog {
  capabilities(): ServerCapabilities;
  readonly discover: Method;
  readonly list: (method: ListMethod) => Method;
  readonly complete: Method;
  /** Something was registered or removed: render again when next asked. */
  invalidate(): void;
}

/** @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination */
export function createCatalog({ registry, results, settings, tasks }: Services): Catalog {
  const cursors = createCursors(settings.keyring);
  const { pageSize, cache } = settings;
  const { meta } = results;
  let pages = new Map<ListMethod, Pages>();
  let capabilities: ServerCapabilities | undefined;
  let discovered: string | undefined;

  const entries: Record<ListMethod, ReadonlyMap<string, { readonly listing: string }>> = {
    "tools/list": registry.tools,
    "prompts/list": registry.prompts,
    "resources/list": registry.resources,
    "resources/templates/list": registry.templates,
  };
  const declare = (): ServerCapabilities => {
    capabilities ??= { ...capabilitiesOf(registry), ...(tasks ? { extensions: { [TASKS_EXTENSION]: {} } } : {}) };
    return capabilities;
  };
  const pagesOf = (method: ListMethod): Pages => {
    let found = pages.get(method);
    if (!found) {
      const listings = [...entries[method].values()].map((entry) => entry.listing);
      found = renderPages(listings, { method, cursors, pageSize, cache, meta });
      pages.set(method, found);
    }
    return found;
  };
  const listResources = async ({ params, call }: Request): Promise<string> => {
    const listings = [...registry.resources.values()].map((entry) => entry.listing);
    for (const { template, list } of registry.templates.values()) {
      if (list)
        for (const resource of await list({ principal: call.principal }))
          listings.push(renderListed(template, resource));
    }
    // It may differ from caller to caller.
    const hint: CacheHint = { ...cache, cacheScope: "private" };
    const options = { method: "resources/list", cursors, pageSize, cache: hint, meta } as const;
    return renderPages(listings, options).page(readCursor(params));
  };

  return {
    capabilities: declare,
    invalidate() {
      pages = new Map();
      capabilities = undefined;
      discovered = undefined;
    },
    discover() {
      discovered ??= results.render({
        resultType: "complete",
        supportedVersions: [PROTOCOL_VERSION],
        capabilities: declare(),
        ...(settings.instructions === undefined ? {} : { instructions: settings.instructions }),
        ...cache,
      });
      return discovered;
    },
    list: (method) => {
      const capability = method === "tools/list" ? "tools" : method === "prompts/list" ? "prompts" : "resources";
      return (request) => {
        if (!declare()[capability]) throw methodNotFound(`This server has no ${capability}.`);
        if (method === "resources/list" && hasLists(registry)) {
          return guard(settings, method, "The resources could not be listed.", () => listResources(request));
        }
        return pagesOf(method).page(readCursor(request.params));
      };
    },
    complete: (request) => {
      if (!declare().completions) throw methodNotFound("This server completes nothing.");
      return complete(request);
    },
  };

  async function complete({ params }: Request): Promise<string> {
    const { ref, argument, context } = readCompleteParams(params);
    checkJson(argument);
    const completer = findCompleters(ref).get(argument.name);
    return await guard(settings, "completion/complete", "The completion failed.", async () => {
      const values = completer ? await completer(argument.value, { arguments: context?.arguments ?? {} }) : [];
      const completion = { values: values.slice(0, MOST), total: values.length, hasMore: values.length > MOST };
      return results.render({ resultType: "complete", completion });
    });
  }

  function findCompleters(ref: PromptReference | ResourceTemplateReference): ReadonlyMap<string, Completer> {
    if (ref.type === "ref/prompt") {
      const prompt = registry.prompts.get(ref.name);
      if (!prompt) throw invalidParams(`Unknown prompt: ${ref.name.slice(0, 128)}`);
      return prompt.completers;
    }
    const template = registry.templates.get(ref.uri);
    if (template) return template.completers;
    if (registry.resources.has(ref.uri)) return NO_COMPLETERS;
    throw invalidParams("Unknown resource template", { uri: ref.uri });
  }
}

/** Values in one completion, by the specification. */
const MOST = 100;
const NO_COMPLETERS: ReadonlyMap<string, Completer> = new Map();

function capabilitiesOf(registry: Services["registry"]): ServerCapabilities {
  const { tools, prompts, resources, templates } = registry;
  const capabilities: ServerCapabilities = {};
  if (tools.size > 0) capabilities.tools = { listChanged: true };
  if (prompts.size > 0) capabilities.prompts = { listChanged: true };
  if (resources.size + templates.size > 0) capabilities.resources = { subscribe: true, listChanged: true };
  // Any handler may call ctx.log.
  if (tools.size + prompts.size + resources.size + templates.size > 0) capabilities.logging = {};
  const completes = [...prompts.values(), ...templates.values()].some((entry) => entry.completers.size > 0);
  if (completes) capabilities.completions = {};
  return capabilities;
}

function hasLists(registry: Services["registry"]): boolean {
  for (const template of registry.templates.values()) if (template.list) return true;
  return false;
}

function renderListed(template: string, resource: ListedResource): string {
  if (typeof resource?.uri !== "string" || typeof resource.name !== "string") {
    throw new TypeError(`\`list\` of "${template}" must return resources with a uri and a name.`);
  }
  return JSON.stringify(resource);
}
