// Guards for what a server asks in the middle of a request, and for what a client answers.
import { isSamplingMessage, isStrings, isTool } from "./content-guards.ts";
import { isArrayOf, isObject, isOptionalObject, isOptionalString, isRecordOf } from "./guards.ts";
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  InputRequest,
  InputRequiredResult,
  ListRootsResult,
  Root,
} from "./input.ts";

/**
 * True for an answer to a question: accept, decline or cancel.
 *
 * After decline and cancel the content may be anything, it is not looked at. After accept it is an object or absent; whether its
 * fields fit is for the form to say.
 */
export function isElicitResult(value: unknown): value is ElicitResult {
  if (!isObject(value)) return false;
  if (value.action === "accept") return isOptionalObject(value.content);
  return value.action === "decline" || value.action === "cancel";
}

/** True for what a model said. */
export function isCreateMessageResult(value: unknown): value is CreateMessageResult {
  return (
    isObject(value) && typeof value.model === "string" && isOptionalString(value.stopReason) && isSamplingMessage(value)
  );
}

function isRoot(value: unknown): value is Root {
  return (
    isObject(value) && typeof value.uri === "string" && isOptionalString(value.name) && isOptionalObject(value._meta)
  );
}

/** True for a client's roots by their shape; `cleanRoots` judges the URIs. */
export function isListRootsResult(value: unknown): value is ListRootsResult {
  return isObject(value) && isArrayOf(value.roots, isRoot);
}

function isElicitParams(value: unknown): value is ElicitRequestParams {
  if (!isObject(value) || typeof value.message !== "string") return false;
  if (value.mode === "url") return typeof value.url === "string";
  const schema = value.requestedSchema;
  return (
    (value.mode === undefined || value.mode === "form") &&
    isObject(schema) &&
    schema.type === "object" &&
    isOptionalString(schema.$schema) &&
    isRecordOf(schema.properties, isObject) &&
    (schema.required === undefined || isStrings(schema.required))
  );
}

function isOptionalPriority(value: unknown): boolean {
  return value === undefined || (typeof value === "number" && value >= 0 && value <= 1);
}

function isModelHint(value: unknown): value is { name?: string } {
  return isObject(value) && isOptionalString(value.name);
}

function isOptionalModelPreferences(value: unknown): boolean {
  return (
    value === undefined ||
    (isObject(value) &&
      (value.hints === undefined || isArrayOf(value.hints, isModelHint)) &&
      isOptionalPriority(value.costPriority) &&
      isOptionalPriority(value.speedPriority) &&
      isOptionalPriority(value.intelligencePriority))
  );
}

function isOptionalToolChoice(value: unknown): boolean {
  return (
    value === undefined ||
    (isObject(value) &&
      (value.mode === undefined || value.mode === "auto" || value.mode === "required" || value.mode === "none"))
  );
}

function isSamplingParams(value: unknown): value is CreateMessageRequestParams {
  return (
    isObject(value) &&
    isArrayOf(value.messages, isSamplingMessage) &&
    Number.isSafeInteger(value.maxTokens) &&
    isOptionalString(value.systemPrompt) &&
    (value.temperature === undefined || typeof value.temperature === "number") &&
    (value.includeContext === undefined ||
      value.includeContext === "none" ||
      value.includeContext === "thisServer" ||
      value.includeContext === "allServers") &&
    (value.stopSequences === undefined || isStrings(value.stopSequences)) &&
    isOptionalObject(value.metadata) &&
    (value.tools === undefined || isArrayOf(value.tools, isTool)) &&
    isOptionalToolChoice(value.toolChoice) &&
    isOptionalModelPreferences(value.modelPreferences)
  );
}

/**
 * True for one of the three questions a server may ask.
 *
 * A form's fields are only known to be objects; reading the form judges them.
 */
export function isInputRequest(value: unknown): value is InputRequest {
  if (!isObject(value)) return false;
  switch (value.method) {
    case "elicitation/create":
      return isElicitParams(value.params);
    case "sampling/createMessage":
      return isSamplingParams(value.params);
    case "roots/list":
      return value.params === undefined || (isObject(value.params) && isOptionalObject(value.params._meta));
    default:
      return false;
  }
}

/**
 * True for "not yet": questions that can be answered, a state to bring back, or both.
 *
 * An empty map of questions counts as none.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export function isInputRequiredResult(value: unknown): value is InputRequiredResult {
  if (!isObject(value) || value.resultType !== "input_required") return false;
  const { inputRequests, requestState } = value;
  if (!isOptionalString(requestState) || !isOptionalObject(value._meta)) return false;
  if (inputRequests === undefined) return requestState !== undefined;
  return (
    isRecordOf(inputRequests, isInputRequest) && (requestState !== undefined || Object.keys(inputRequests).length > 0)
  );
}
