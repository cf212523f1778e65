// `prompts/get` and `resources/read`.
import type { Rounds } from "../../flow/index.ts";
import { checkJson, readGetPromptParams, readResourceParams } from "../../protocol/index.ts";
import type { CacheHint, PromptEntry, ResourceEntry, TemplateEntry } from "../catalog/registry.ts";
import { notFound } from "../catalog/results.ts";
import { checkName } from "../message/admission.ts";
import { guard } from "../message/error-policy.ts";
import { invalidParams } from "../message/refusal.ts";
import type { Method, Request } from "../message/request.ts";
import { checkArguments, NO_ARGUMENTS, project, round, type Services } from "./prepare.ts";

const NO_CACHE: CacheHint = { ttlMs: 0, cacheScope: "private" };

export function createPromptGet({ registry, rounds, results, settings }: Services): Method {
  const run = async (entry: PromptEntry, raw: Record<string, unknown>, request: Request): Promise<string> => {
    const args = await checkArguments(entry.input, raw);
    if (typeof args === "string")
      throw invalidParams(`The arguments of prompt "${entry.name}" are not valid:\n${args}`);
    return guard(settings, entry.name, "The prompt failed.", async () => {
      const [bound, given] = project(entry, raw, args);
      const reply = await rounds.play(round("prompts/get", entry.name, bound, request), entry.definition, (ctx) =>
        entry.handler(given, ctx),
      );
      return reply.type !== "complete" ? results.render(reply.result) : results.prompt(entry, reply.value);
    });
  };

  return (request) => {
    const { name, arguments: raw = NO_ARGUMENTS } = readGetPromptParams(request.params);
    checkName(name, request.call.headers);
    const entry = registry.prompts.get(name);
    if (!entry) throw invalidParams(`Unknown prompt: ${name.slice(0, 128)}`);
    checkJson(raw);
    return run(entry, raw, request);
  };
}

export function createResourceRead({ registry, rounds, results, settings }: Services): Method {
  const run = (
    entry: ResourceEntry | TemplateEntry,
    uri: string,
    request: Request,
    handler: Parameters<Rounds["play"]>[2],
  ): Promise<string> =>
    guard(settings, uri, "The resource could not be read.", async () => {
      const { params } = request;
      const reply = await rounds.play(round("resources/read", uri, undefined, request), entry.definition, handler);
      if (reply.type !== "complete") return results.render(reply.result);
      // What rests on answers is not what the next reader would get.
      const retried = params.inputResponses !== undefined || params.requestState !== undefined;
      return results.resource(uri, entry.mimeType, retried ? NO_CACHE : entry.cache, reply.value);
    });

  return (request) => {
    const { uri } = readResourceParams(request.params);
    checkName(uri, request.call.headers);
    checkJson(uri);
    const entry = registry.resources.get(uri);
    if (entry) return run(entry, uri, request, (ctx) => entry.handler(uri, ctx));
    for (const template of registry.templates.values()) {
      const variables = template.match(uri);
      if (variables) return run(template, uri, request, (ctx) => template.handler(variables, ctx, uri));
    }
    throw notFound(uri);
  };
}
