import { type Checked, compileForm, type FormSchema, type FormValue } from "../elicit/index.ts";
import {
  type CreateMessageRequestParams,
  type CreateMessageResult,
  checkSamplingMessages,
  type InputRequest,
  type OptionNames,
  type Root,
  VolleyError,
} from "../protocol/index.ts";
import type { Question, Reading } from "./asks.ts";
import type { FormQuestion, Outcome } from "./context.ts";
import { Cancelled, Declined } from "./errors.ts";
import type { Flow } from "./flow.ts";
import { checkMessage, checkName, checkQuestion } from "./misuse.ts";

/** The reduced answers of forms and pages, as `reduceAnswer` leaves them. */
interface Answer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: unknown;
}

const DECLINED = { ok: true, value: { action: "decline" } } as const;
const CANCELLED = { ok: true, value: { action: "cancel" } } as const;

const FORM: OptionNames<FormQuestion<FormSchema>> = { message: true, schema: true, pin: true };
const URL_QUESTION: OptionNames<UrlQuestion> = { message: true, url: true };

interface UrlQuestion {
  readonly message: string;
  readonly url: string;
}

export function formQuestion<S extends FormSchema>(
  key: string,
  question: FormQuestion<S>,
): Question<Outcome<FormValue<S>>> {
  checkName("elicit", key, 'elicit("size", { message, schema })');
  checkQuestion("elicit", key, question, FORM, ["message", "schema"]);
  const { message, schema, pin } = question;
  const form = compileForm(schema);
  return {
    key,
    kind: "form",
    pinned: pin ?? false,
    request: formRequest(message, form.requestedSchema),
    fields: form.fields,
    read: (response) => {
      const { action, content } = response as Answer;
      if (action !== "accept") return action === "decline" ? DECLINED : CANCELLED;
      const checked = form.check(content);
      return checked instanceof Promise ? checked.then(accepted) : accepted(checked);
    },
  };
}

function accepted<T>(checked: Checked<T>): Reading<Outcome<T>> {
  if (checked.ok) return { ok: true, value: { action: "accept", value: checked.value } };
  return { ok: false, reason: checked.problems.map(({ message }) => message).join("\n") };
}

/** The same question for authors who take a decline or cancel as an exception. */
export function orThrow<T>(question: Question<Outcome<T>>): Question<T> {
  const unwrap = (reading: Reading<Outcome<T>>): Reading<T> => {
    if (reading.ok !== true) return reading;
    const outcome = reading.value;
    if (outcome.action === "accept") return { ok: true, value: outcome.value };
    return {
      ok: "thrown",
      error: outcome.action === "decline" ? new Declined(question.key) : new Cancelled(question.key),
    };
  };
  return {
    ...question,
    read: (response) => {
      const reading = question.read(response);
      return reading instanceof Promise ? reading.then(unwrap) : unwrap(reading);
    },
  };
}

const YES = compileForm({
  type: "object",
  properties: { confirm: { type: "boolean", title: "Yes" } },
  required: ["confirm"],
});

export function confirmQuestion(key: string, message: string): Question<boolean> {
  const example = 'confirm("sure", "Are you sure?")';
  checkName("confirm", key, example);
  if (message === undefined) {
    throw new VolleyError(
      "context_misused",
      `ctx.confirm(${JSON.stringify(key)}) needs a name and then a message: ctx.${example}.`,
    );
  }
  checkMessage(`ctx.confirm(${JSON.stringify(key)}, ...)`, message);
  return {
    key,
    kind: "form",
    pinned: true,
    request: formRequest(message, YES.requestedSchema),
    fields: YES.fields,
    read: (response) => {
      const { action, content } = response as Answer;
      if (action !== "accept") return { ok: true, value: false };
      const value = (content as Record<string, unknown>).confirm;
      return typeof value === "boolean"
        ? { ok: true, value }
        : { ok: false, reason: "Answer yes or no: confirm is true or false." };
    },
  };
}

function formRequest(
  message: string,
  requestedSchema: ReturnType<typeof compileForm>["requestedSchema"],
): InputRequest {
  return { method: "elicitation/create", params: { mode: "form", message, requestedSchema } };
}

export function urlQuestion(flow: Flow, key: string, question: UrlQuestion): Question<Outcome<undefined>> {
  checkName("elicitUrl", key, 'elicitUrl("login", { message, url })');
  checkQuestion("elicitUrl", key, question, URL_QUESTION, ["message", "url"]);
  const { message, url } = question;
  checkUrl(flow, key, url);
  return {
    key,
    kind: "url",
    pinned: false,
    request: { method: "elicitation/create", params: { mode: "url", message, url } },
    read: (response) => {
      const { action } = response as Answer;
      if (action === "accept") return { ok: true, value: { action, value: undefined } };
      return action === "decline" ? DECLINED : CANCELLED;
    },
  };
}

// Elicitation, Safe URL Handling: https outside development, nothing in it that identifies or logs in.
function checkUrl(flow: Flow, key: string, text: string): void {
  const refuse = (why: string): never => {
    throw new VolleyError("invalid_options", `elicitUrl("${key}"): ${why}`);
  };
  if (!URL.canParse(text)) refuse("the URL is not valid; give an absolute https URL.");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") refuse("the URL may not hold a user name or password.");
  const local = flow.services.development || ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && local)) {
    refuse("the URL must be https (http only on loopback or in development).");
  }
}

export function samplingQuestion(key: string, params: CreateMessageRequestParams): Question<CreateMessageResult> {
  const example = 'createMessage("summary", { messages, maxTokens })';
  checkName("createMessage", key, example);
  if (!Array.isArray(params?.messages)) {
    throw new VolleyError(
      "context_misused",
      `ctx.createMessage(${JSON.stringify(key)}, ...) needs its messages: ctx.${example}.`,
    );
  }
  const problem = checkSamplingMessages(params.messages);
  if (problem !== undefined) throw new VolleyError("invalid_options", `createMessage("${key}"): ${problem}`);
  return {
    key,
    kind: "sampling",
    pinned: false,
    request: { method: "sampling/createMessage", params },
    read: (response) => ({ ok: true, value: response as CreateMessageResult }),
  };
}

export function rootsQuestion(key: string): Question<readonly Root[]> {
  checkName("listRoots", key, 'listRoots("roots")');
  return {
    key,
    kind: "roots",
    pinned: false,
    request: { method: "roots/list" },
    read: (response) => ({ ok: true, value: response as readonly Root[] }),
  };
}
