import {
  type ClientCapabilities,
  checkJson,
  ErrorCode,
  type InputRequests,
  isObject,
  missingCapabilities,
  RpcError,
} from "../protocol/index.ts";
import { reduceAnswer } from "./asks.ts";
import type { Flow } from "./flow.ts";
import type { RoundRequest } from "./types.ts";

/** Rule 4: only answers to questions that this state left open count, and they arrive one right after the other. */
export function takeAnswers(flow: Flow, responses: Readonly<Record<string, unknown>>): void {
  if ([...flow.asked.keys()].some((key) => Object.hasOwn(responses, key))) endSleeps(flow);
  let overlaps = [...flow.asked.values()].some(
    (question) => question[5] === 1 && Object.hasOwn(responses, question[0]),
  );
  for (const [key, kind, , pin, changes] of flow.asked.values()) {
    if (!Object.hasOwn(responses, key)) continue;
    const response = responses[key];
    if (!isObject(response)) {
      throw new RpcError(ErrorCode.InvalidParams, `inputResponses: the answer to "${key}" must be an object.`);
    }
    checkJson(response);
    const answer = reduceAnswer(kind, response);
    if (answer === undefined) continue;
    flow.journal.add(["a", key, kind, answer, pin, changes], overlaps);
    overlaps = false;
  }
}

/** A sleep whose time had passed when answers came was over before them. */
function endSleeps({ journal, startedAt }: Flow): void {
  const over = [...journal.sleeps].filter(([, until]) => until <= startedAt).sort(([, a], [, b]) => a - b);
  for (const [name] of over) journal.add(["w", name], true);
}

// S6: what the client did not declare is not asked, and no part of the round is.
export function gate(inputRequests: InputRequests, request: RoundRequest): void {
  const { capabilities } = request.client;
  const missing = missingCapabilities(inputRequests, capabilities);
  if (missing === undefined) return;
  const needs: string[] = [];
  for (const [key, question] of Object.entries(inputRequests)) {
    const lacks = missingCapabilities({ [key]: question }, capabilities);
    if (lacks !== undefined) needs.push(`the question "${key}" needs ${nameOf(lacks)}`);
  }
  throw new RpcError(
    ErrorCode.MissingRequiredClientCapability,
    `This request needs input that the client does not declare it can give: ${needs.slice(0, MOST_NAMED).join("; ")}.`,
    { requiredCapabilities: missing },
  );
}

const MOST_NAMED = 3;

/** What one question needs, and what declares it with our client. */
function nameOf({ elicitation, sampling, roots }: ClientCapabilities): string {
  if (elicitation?.url !== undefined) return "elicitation.url: give `connect` of volley-mcp/client a `url` handler";
  if (elicitation !== undefined) return "elicitation.form: give `connect` of volley-mcp/client a `form` handler";
  if (roots !== undefined) return "roots: give `connect` of volley-mcp/client a `roots` handler";
  const more = Object.keys(sampling ?? {});
  if (more.length === 0) return "sampling: give `connect` of volley-mcp/client a `sampling` handler";
  const names = more.map((name) => `sampling.${name}`).join(" and ");
  return `${names}: give \`connect\` of volley-mcp/client \`sampling: { create, ${more.map((name) => `${name}: true`).join(", ")} }\``;
}
