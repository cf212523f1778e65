// What a person, a model or a host has answered, checked before it goes to the server.
import { checkContent, type Field, type FieldValue, type Problem, readForm } from "../elicit/index.ts";
import {
  type CreateMessageResult,
  cleanCreateMessageResult,
  cleanRoots,
  type ElicitResult,
  type InputRequest,
  type InputResponse,
  isElicitResult,
  isObject,
  type Root,
  VolleyError,
} from "../protocol/index.ts";

/** What a form holds, by field name; fields that are undefined are left out. */
export type FormFields = { readonly [name: string]: FieldValue | undefined };

/**
 * The answer to a form: its content, `"decline"` (no) or `"cancel"` (no answer), or the protocol's own shape.
 *
 * An object with an `action` of accept, decline or cancel is read as the protocol's shape: a form that has a field
 * called `action` is answered in that shape only.
 */
export type FormAnswer =
  | FormFields
  | { readonly action: "accept"; readonly content: FormFields }
  | { readonly action: "decline" | "cancel" }
  | "decline"
  | "cancel";

/** The answer to a URL question: accept means that the person has agreed to open it, not that the page is done with. */
export type UrlAnswer = "accept" | "decline" | "cancel" | { readonly action: "accept" | "decline" | "cancel" };

/** What may be said to a form in one word. */
export type FormWords = Extract<FormAnswer, string>;

/** What may be said to a URL question in one word. */
export type UrlWords = Extract<UrlAnswer, string>;

/** A checked answer, or what is wrong with it in words for the person. */
export type CheckedAnswer = { readonly response: InputResponse } | { readonly problems: readonly Problem[] };

/** Checks the answer to a form. Only the form's own fields are sent; after decline and cancel, nothing is. */
export function checkFormAnswer(key: string, fields: readonly Field[], answer: unknown): CheckedAnswer {
  const result = typeof answer === "string" ? { action: answer } : answer;
  if (isElicitResult(result)) {
    return result.action === "accept"
      ? checkFields(fields, result.content ?? {})
      : { response: { action: result.action } };
  }
  // What looks like the protocol's shape, but is none, must not pass for the content of a form.
  const isContent = isObject(answer) && !(Object.hasOwn(answer, "action") && answer.action === "accept");
  if (isContent) return checkFields(fields, answer);
  throw unusable(key, 'Give the content of the form, "decline" or "cancel"');
}

function checkFields(fields: readonly Field[], given: Record<string, unknown>): CheckedAnswer {
  const problems = checkContent(fields, given);
  if (problems.length > 0) return { problems };
  const content: Record<string, unknown> = Object.create(null);
  for (const { name } of fields) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value !== undefined && value !== null) content[name] = value;
  }
  return { response: { action: "accept", content } };
}

/** Checks the answer to a URL question. */
export function checkUrlAnswer(key: string, answer: unknown): ElicitResult {
  const result = typeof answer === "string" ? { action: answer } : answer;
  if (isElicitResult(result)) return { action: result.action };
  throw unusable(key, 'Give "accept", "decline" or "cancel"');
}

/** Checks what a model said. */
export function checkSamplingAnswer(key: string, answer: unknown): CreateMessageResult {
  const result = cleanCreateMessageResult(answer);
  if (result === undefined) throw unusable(key, "Give the model's message: role, content and model");
  return result;
}

/** Checks roots: the list, or the protocol's shape around it. */
export function checkRootsAnswer(key: string, answer: unknown): { roots: Root[] } {
  const roots = cleanRoots(Array.isArray(answer) ? { roots: answer } : answer);
  if (roots === undefined) throw unusable(key, "Give a list of roots, each with a file:// URI");
  return { roots };
}

/** What a question is, by the handler that it needs. */
export type AskKind = "form" | "url" | "sampling" | "roots";

/** The kind of a question. */
export function kindOf(request: InputRequest): AskKind {
  if (request.method === "elicitation/create") return request.params.mode === "url" ? "url" : "form";
  return request.method === "sampling/createMessage" ? "sampling" : "roots";
}

/** What is wrong with a form's answer, for its author: people know a field by its title, programs by its name. */
export function problemList(problems: readonly Problem[]): string {
  return problems.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join(" ");
}

/** The error for an answer that cannot be used, in words for the author of the code that gave it. */
export function unusable(key: string, remedy: string): VolleyError {
  return new VolleyError("no_answer", `The answer to "${key}" cannot be used. ${remedy}.`);
}

/** Checks an answer that was given by hand, by the kind of its question. */
export function checkAnswer(key: string, request: InputRequest, answer: unknown): InputResponse {
  switch (kindOf(request)) {
    case "form": {
      const params = request.params as { requestedSchema: unknown };
      const checked = checkFormAnswer(key, readForm(params.requestedSchema), answer);
      if ("response" in checked) return checked.response;
      throw unusable(key, problemList(checked.problems));
    }
    case "url":
      return checkUrlAnswer(key, answer);
    case "sampling":
      return checkSamplingAnswer(key, answer);
    case "roots":
      return checkRootsAnswer(key, answer);
  }
}
