// Definitions of the published schema with the guards that read them, examples, and the places where the two may differ.
import * as protocol from "../../../src/protocol/index.ts";
import {
  CAPITAL_OF_FRANCE_ANSWER,
  CAPITAL_OF_FRANCE_REQUEST,
  GET_WEATHER,
  GITHUB_LOGIN_ANSWER,
  GITHUB_LOGIN_REQUEST,
  META_EXAMPLE,
  NOT_REQUESTED_INFO,
  TWO_QUESTIONS,
  UPDATE_WORK_ITEM,
} from "../../fixtures/messages.ts";
import {
  AUDIO,
  CONTENTS,
  EMBEDDED,
  ICON,
  IMAGE,
  LINK,
  PAGE,
  PROMPT,
  RESOURCE,
  TEMPLATE,
  TEXT,
  TOOL,
  TOOL_RESULT,
  TOOL_USE,
} from "./schema-examples.ts";

export interface Pair {
  definition: string;
  guard: (value: unknown) => boolean;
  examples: readonly unknown[];
  /** Places where the two may differ, each with its reason. */
  differs?: Record<string, string>;
}

type Read = (value: unknown) => unknown;

/** A reader that throws, as a guard. */
function accepts(read: Read): (value: unknown) => boolean {
  return (value) => {
    try {
      read(value);
      return true;
    } catch (error) {
      if (protocol.RpcError.is(error) || protocol.VolleyError.is(error)) return false;
      throw error;
    }
  };
}

const CACHE = "servers of earlier revisions send none; a negative ttlMs counts as 0; fractions do no harm";
const TYPE = "readResponse has given every result its type, and only complete ones are read by this guard";
const INFO = "readResponse has judged it";
const FLAT = "the form judges its fields when it is read";

/** Differences of the guards for results: of every result, of those with cache hints, and of those with `serverInfo` as well. */
const RESULT = { resultType: TYPE };
const CACHED = { resultType: TYPE, ttlMs: CACHE, cacheScope: CACHE, "_meta/": INFO };

export const PAIRS: readonly Pair[] = [
  {
    definition: "RequestMetaObject",
    guard: accepts((value) => protocol.readRequestMeta({ _meta: value })),
    examples: [
      META_EXAMPLE,
      {
        progressToken: "p",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {
          name: "c",
          version: "1",
          title: "C",
          description: "a client",
          websiteUrl: "https://example.com",
          icons: [ICON],
        },
        "io.modelcontextprotocol/clientCapabilities": {
          elicitation: { form: {}, url: {} },
          sampling: { tools: {}, context: {} },
          roots: {},
          extensions: { "io.modelcontextprotocol/tasks": {} },
          experimental: { "com.example/x": {} },
        },
        "io.modelcontextprotocol/logLevel": "warning",
      },
    ],
  },
  {
    definition: "JSONRPCRequest",
    guard: accepts((value) => {
      const message = protocol.readMessage(value);
      if (!protocol.isRequest(message)) throw new protocol.RpcError(-32600, "a notification");
    }),
    examples: [GET_WEATHER.call, GET_WEATHER.retry, UPDATE_WORK_ITEM.call, NOT_REQUESTED_INFO.retry],
  },
  {
    definition: "JSONRPCNotification",
    guard: accepts(protocol.readMessage),
    examples: [{ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }],
  },
  {
    definition: "JSONRPCResponse",
    guard: accepts((value) => protocol.readResponse(structuredClone(value))),
    examples: [
      GET_WEATHER.question,
      GET_WEATHER.result,
      UPDATE_WORK_ITEM.resolutionQuestion,
      { jsonrpc: "2.0", id: "a", error: { code: -32602, message: "no", data: 1 } },
      { jsonrpc: "2.0", error: { code: -32700, message: "no" } },
      { jsonrpc: "2.0", id: 1, result: PAGE },
    ],
    differs: {
      id: "JSON-RPC itself has a null id where a request's could not be read",
      result: "clients MUST read an absent type as complete",
      "result/resultType": "clients MUST read an absent type as complete",
      "result/_meta": "null, as some libraries write what is absent, is taken out",
    },
  },
  {
    definition: "CallToolRequestParams",
    guard: accepts((value) => {
      protocol.readRequestMeta(value);
      protocol.readCallToolParams(value);
    }),
    examples: [
      { ...GET_WEATHER.retry.params, _meta: { ...META_EXAMPLE } },
      { ...UPDATE_WORK_ITEM.duplicateRetry.params, _meta: { ...META_EXAMPLE } },
    ],
    differs: {
      inputResponses: "judged against the questions that the state has open",
      "inputResponses/": "judged against the questions that the state has open",
      requestState: "opened by the seal",
    },
  },
  {
    definition: "GetPromptRequestParams",
    guard: accepts(protocol.readGetPromptParams),
    examples: [{ name: "greet", arguments: { who: "Ada" }, _meta: { ...META_EXAMPLE } }],
    differs: { _meta: "read apart", "_meta/": "read apart" },
  },
  {
    definition: "ReadResourceRequestParams",
    guard: accepts(protocol.readResourceParams),
    examples: [{ uri: "file:///a.txt", _meta: { ...META_EXAMPLE } }],
    differs: { _meta: "read apart", "_meta/": "read apart" },
  },
  {
    definition: "CompleteRequestParams",
    guard: accepts(protocol.readCompleteParams),
    examples: [
      {
        ref: { type: "ref/prompt", name: "greet" },
        argument: { name: "who", value: "A" },
        context: { arguments: { a: "b" } },
        _meta: { ...META_EXAMPLE },
      },
      {
        ref: { type: "ref/resource", uri: "file:///{p}" },
        argument: { name: "p", value: "A" },
        _meta: { ...META_EXAMPLE },
      },
    ],
    differs: { _meta: "read apart", "_meta/": "read apart" },
  },
  {
    definition: "SubscriptionFilter",
    guard: protocol.isSubscriptionFilter,
    examples: [{ toolsListChanged: true, promptsListChanged: false, resourceSubscriptions: ["file:///a"] }],
  },
  {
    definition: "InputRequest",
    guard: protocol.isInputRequest,
    examples: [
      GITHUB_LOGIN_REQUEST,
      CAPITAL_OF_FRANCE_REQUEST,
      UPDATE_WORK_ITEM.resolutionQuestion.result.inputRequests.resolution,
      UPDATE_WORK_ITEM.duplicateQuestion.result.inputRequests.duplicate_of,
      { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://example.com/sign-in" } },
      { method: "roots/list" },
      { method: "roots/list", params: { _meta: { "com.example/a": 1 } } },
      {
        method: "sampling/createMessage",
        params: {
          messages: [
            { role: "assistant", content: [TEXT, TOOL_USE] },
            { role: "user", content: TOOL_RESULT, _meta: {} },
          ],
          maxTokens: 10,
          temperature: 0.5,
          includeContext: "thisServer",
          stopSequences: ["END"],
          metadata: { a: 1 },
          tools: [TOOL],
          toolChoice: { mode: "auto" },
        },
      },
    ],
    differs: { "params/requestedSchema/properties/": FLAT },
  },
  {
    definition: "InputRequiredResult",
    guard: protocol.isInputRequiredResult,
    examples: [
      TWO_QUESTIONS.result,
      GET_WEATHER.question.result,
      UPDATE_WORK_ITEM.resolutionQuestion.result,
      UPDATE_WORK_ITEM.duplicateQuestion.result,
      NOT_REQUESTED_INFO.question.result,
      { resultType: "input_required", requestState: "only" },
    ],
    differs: {
      resultType: "its type is what makes it one",
      inputRequests: "the schema cannot say that one of both has to be there",
      "inputRequests/github_login": "an empty map counts as none",
      "inputRequests/resolution": "an empty map counts as none",
      requestState: "the schema cannot say that one of both has to be there",
      "inputRequests/github_login/params/requestedSchema/properties/": FLAT,
      "inputRequests/resolution/params/requestedSchema/properties/": FLAT,
      "inputRequests/duplicate_of/params/requestedSchema/properties/": FLAT,
    },
  },
  {
    definition: "ElicitResult",
    guard: protocol.isElicitResult,
    examples: [
      GITHUB_LOGIN_ANSWER,
      UPDATE_WORK_ITEM.duplicateRetry.params.inputResponses.duplicate_of,
      NOT_REQUESTED_INFO.retry.params.inputResponses.not_requested_info,
      { action: "decline" },
      { action: "cancel" },
    ],
    differs: { "content/": FLAT, content: FLAT },
  },
  {
    definition: "CreateMessageResult",
    guard: protocol.isCreateMessageResult,
    examples: [
      CAPITAL_OF_FRANCE_ANSWER,
      { role: "assistant", content: [TEXT, IMAGE, AUDIO, TOOL_USE], model: "m", _meta: {} },
      { role: "user", content: [TOOL_RESULT], model: "m" },
    ],
  },
  {
    definition: "ListRootsResult",
    guard: protocol.isListRootsResult,
    examples: [{ roots: [{ uri: "file:///home/user/projects/myproject", name: "My Project", _meta: {} }] }],
  },
  {
    definition: "CallToolResult",
    guard: protocol.isCallToolResult,
    examples: [
      GET_WEATHER.result.result,
      UPDATE_WORK_ITEM.result.result,
      {
        resultType: "complete",
        content: [TEXT, IMAGE, AUDIO, LINK, EMBEDDED],
        structuredContent: { a: 1 },
        isError: true,
        _meta: {},
      },
    ],
    differs: RESULT,
  },
  {
    definition: "GetPromptResult",
    guard: protocol.isGetPromptResult,
    examples: [{ resultType: "complete", description: "d", messages: [{ role: "user", content: TEXT }] }],
    differs: RESULT,
  },
  {
    definition: "ReadResourceResult",
    guard: protocol.isReadResourceResult,
    examples: [{ ...PAGE, contents: [CONTENTS, { uri: "file:///b", blob: "aGVsbG8=" }] }],
    differs: CACHED,
  },
  {
    definition: "ListToolsResult",
    guard: protocol.isListToolsResult,
    examples: [{ ...PAGE, tools: [TOOL] }],
    differs: CACHED,
  },
  {
    definition: "ListPromptsResult",
    guard: protocol.isListPromptsResult,
    examples: [{ ...PAGE, prompts: [PROMPT] }],
    differs: CACHED,
  },
  {
    definition: "ListResourcesResult",
    guard: protocol.isListResourcesResult,
    examples: [{ ...PAGE, resources: [RESOURCE] }],
    differs: CACHED,
  },
  {
    definition: "ListResourceTemplatesResult",
    guard: protocol.isListResourceTemplatesResult,
    examples: [{ ...PAGE, resourceTemplates: [TEMPLATE] }],
    differs: CACHED,
  },
  {
    definition: "CompleteResult",
    guard: protocol.isCompleteResult,
    examples: [{ resultType: "complete", completion: { values: ["a"], total: 1, hasMore: false } }],
    differs: RESULT,
  },
  {
    definition: "DiscoverResult",
    guard: protocol.isDiscoverResult,
    examples: [
      {
        ...PAGE,
        supportedVersions: ["2026-07-28"],
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          completions: {},
          logging: {},
          extensions: { "com.example/x": {} },
          experimental: { "com.example/y": {} },
        },
        instructions: "Use it well",
      },
    ],
    differs: CACHED,
  },
  {
    definition: "CancelledNotificationParams",
    guard: protocol.isCancelledParams,
    examples: [{ requestId: "a", reason: "over", _meta: { "io.modelcontextprotocol/subscriptionId": 1 } }],
  },
  {
    definition: "ProgressNotificationParams",
    guard: protocol.isProgressParams,
    examples: [{ progressToken: 1, progress: 0.5, total: 1, message: "half" }],
  },
  {
    definition: "LoggingMessageNotificationParams",
    guard: protocol.isLoggingMessageParams,
    examples: [{ level: "info", logger: "l", data: { a: 1 } }],
  },
  {
    definition: "ResourceUpdatedNotificationParams",
    guard: protocol.isResourceUpdatedParams,
    examples: [{ uri: "file:///a" }],
  },
  {
    definition: "SubscriptionsAcknowledgedNotificationParams",
    guard: protocol.isAcknowledgedParams,
    examples: [{ notifications: { toolsListChanged: true } }],
  },
];
