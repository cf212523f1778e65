// Handing a server's questions to those who can answer them.
import { defaults, type Field, type FormContent, type Problem, readForm } from "../elicit/index.ts";
import {
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type ElicitRequestFormParams,
  type ElicitRequestURLParams,
  type InputRequest,
  type InputRequests,
  type InputResponse,
  type InputResponses,
  type JSONObject,
  missingCapabilities,
  type RequestedSchema,
  type Root,
  VolleyError,
} from "../protocol/index.ts";
import {
  type AskKind,
  checkFormAnswer,
  checkRootsAnswer,
  checkSamplingAnswer,
  checkUrlAnswer,
  type FormAnswer,
  type FormWords,
  problemList,
  type UrlAnswer,
  type UrlWords,
} from "./answers.ts";
import type { ServerIdentity } from "./connection.ts";
import { checkUrl, type UrlWarning } from "./url-warnings.ts";

/** What every question comes with. */
export interface Ask {
  /** The server's name for the question. */
  readonly key: string;
  /** Who asks. Show it: a person has to know whom the answer goes to. */
  readonly server: ServerIdentity;
  /** The call in whose middle the question is asked. */
  readonly call: { readonly method: string; readonly target: string };
  /** 1 for the questions of the first answer. */
  readonly round: number;
  /** Fires when nobody waits for the answer any more: take the question off the screen. */
  readonly signal: AbortSignal;
}

/**
 * A form to be filled in by a person, who may also decline or cancel it.
 *
 * Nothing in it is to be shown as a link.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
export interface FormAsk extends Ask {
  readonly message: string;
  readonly fields: readonly Field[];
  /** What the form holds before anybody has touched it: the defaults of those fields that have one. */
  readonly defaults: FormContent;
  /** What was wrong with the answer before this one; empty the first time. */
  readonly problems: readonly Problem[];
  /** The form as the server sent it. */
  readonly requestedSchema: RequestedSchema;
}

/**
 * A web page to be opened by a person who agrees to that.
 *
 * Show `url` in full with `host` set off, and the warnings. Open it only after consent, in a browser that neither this
 * program nor a model can look into. Nothing has been fetched from it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#safe-url-handling
 */
export interface UrlAsk extends Ask {
  readonly message: string;
  readonly url: string;
  readonly host: string;
  readonly warnings: readonly UrlWarning[];
}

/** Asks the client's model. Show the request to a person who may change or refuse it. */
export type SamplingHandler = (
  params: CreateMessageRequestParams,
  ask: Ask,
) => CreateMessageResult | Promise<CreateMessageResult>;

/**
 * Those who answer. A kind of question without a handler is not declared, and servers may not ask it.
 *
 * `connect` infers both parameters: else the compiler takes the one word that an async function returns for any string.
 */
export interface AskHandlers<FormWord extends FormWords = FormWords, UrlWord extends UrlWords = UrlWords> {
  readonly form?: (ask: FormAsk) => FormAnswer | Promise<FormAnswer | FormWord>;
  readonly url?: (ask: UrlAsk) => UrlAnswer | Promise<UrlAnswer | UrlWord>;
  /**
   * A model; `tools` and `context` say that it may be given tools, or asked to include context.
   * @deprecated by the specification, together with sampling.
   */
  readonly sampling?:
    | SamplingHandler
    | { readonly create: SamplingHandler; readonly tools?: boolean; readonly context?: boolean };
  /** @deprecated by the specification, together with roots. */
  readonly roots?: (ask: Ask) => readonly Root[] | Promise<readonly Root[]>;
}

/** The capabilities of a client with these handlers that can also answer the kinds in `byHand`. */
export function capabilitiesOf(handlers: AskHandlers, byHand: readonly AskKind[] = []): ClientCapabilities {
  const { sampling } = handlers;
  const has = (kind: AskKind): boolean => handlers[kind] !== undefined || byHand.includes(kind);
  const capabilities: ClientCapabilities = {};
  const elicitation: { form?: JSONObject; url?: JSONObject } = {};
  if (has("form")) elicitation.form = {};
  if (has("url")) elicitation.url = {};
  if (has("form") || has("url")) capabilities.elicitation = elicitation;
  if (has("sampling")) {
    const { tools = false, context = false } = typeof sampling === "object" ? sampling : {};
    capabilities.sampling = { ...(tools ? { tools: {} } : {}), ...(context ? { context: {} } : {}) };
  }
  if (has("roots")) capabilities.roots = {};
  return capabilities;
}

/** Throws VolleyError `no_handler` when a server asks what it was not told that it may ask. */
export function refuseUndeclared(requests: InputRequests, declared: ClientCapabilities): void {
  const missing = missingCapabilities(requests, declared);
  if (missing === undefined) return;
  throw new VolleyError(
    "no_handler",
    `The server asks what this client has not declared: ${JSON.stringify(missing)}. Give connect() a handler for it, or tell whoever runs the server.`,
  );
}

/** How often a form may be answered unusably. */
const FORM_ATTEMPTS = 3;

/** What the questions of a round have in common. */
export type AskContext = Omit<Ask, "key">;

/** Has all questions of a round answered, at the same time; the first failure is the failure of all. */
export async function answerAll(
  requests: InputRequests,
  handlers: AskHandlers,
  context: AskContext,
): Promise<InputResponses> {
  const answered = await Promise.all(
    Object.keys(requests).map(async (key) => {
      const response = await answer(requests[key] as InputRequest, handlers, { ...context, key });
      return [key, response] as const;
    }),
  );
  const responses: InputResponses = Object.create(null);
  for (const [key, response] of answered) responses[key] = response;
  return responses;
}

async function answer(request: InputRequest, handlers: AskHandlers, ask: Ask): Promise<InputResponse> {
  switch (request.method) {
    case "elicitation/create":
      return request.params.mode === "url"
        ? answerUrl(request.params, handlers.url, ask)
        : answerForm(request.params, handlers.form, ask);
    case "sampling/createMessage": {
      const { sampling } = handlers;
      const create = typeof sampling === "object" ? sampling.create : sampling;
      return checkSamplingAnswer(ask.key, await need(create, ask.key)(request.params, ask));
    }
    case "roots/list":
      return checkRootsAnswer(ask.key, await need(handlers.roots, ask.key)(ask));
  }
}

async function answerForm(
  params: ElicitRequestFormParams,
  handler: AskHandlers["form"],
  ask: Ask,
): Promise<InputResponse> {
  const { message, requestedSchema } = params;
  const fields = readForm(requestedSchema);
  let problems: readonly Problem[] = [];
  for (let attempt = 0; attempt < FORM_ATTEMPTS; attempt++) {
    const form: FormAsk = { ...ask, message, fields, defaults: defaults(fields), problems, requestedSchema };
    const checked = checkFormAnswer(ask.key, fields, await need(handler, ask.key)(form));
    if ("response" in checked) return checked.response;
    ({ problems } = checked);
  }
  throw new VolleyError(
    "no_answer",
    `The form "${ask.key}" was answered unusably ${FORM_ATTEMPTS} times: ${problemList(problems)}`,
  );
}

async function answerUrl(
  params: ElicitRequestURLParams,
  handler: AskHandlers["url"],
  ask: Ask,
): Promise<InputResponse> {
  const page: UrlAsk = { ...ask, message: params.message, ...checkUrl(params.url) };
  return checkUrlAnswer(ask.key, await need(handler, ask.key)(page));
}

function need<H>(handler: H | undefined, key: string): H {
  if (handler === undefined)
    throw new VolleyError("no_handler", `Nobody can answer "${key}": give connect() a handler for it.`);
  return handler;
}
