import { type Field, formWarnings } from "../elicit/index.ts";
import {
  cleanCreateMessageResult,
  cleanRoots,
  type ElicitRequestFormParams,
  type InputRequest,
  isObject,
  VolleyError,
} from "../protocol/index.ts";
import { digest } from "../state/index.ts";
import type { Call } from "./call.ts";
import { type ContextPromise, type Deferred, defer } from "./context-promise.ts";
import type { Flow } from "./flow.ts";
import type { AnswerEntry, AskKind, Found } from "./journal.ts";
import type { Run } from "./run.ts";
import { tell } from "./tracing.ts";

/** A question of an author, whatever its kind. */
export interface Question<T> {
  readonly key: string;
  readonly kind: AskKind;
  readonly pinned: boolean;
  /** The request as the author meant it; its message gets the reason when it is asked again. */
  readonly request: InputRequest;
  /** Of a form. */
  readonly fields?: readonly Field[];
  /** Turns a reduced answer into the author's value, or says in one sentence why it is of no use. */
  readonly read: (response: unknown) => Reading<T> | Promise<Reading<T>>;
}

export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string }
  | { readonly ok: "thrown"; readonly error: Error };

const MOST_TRIES = 3;
const MOST_CHANGES = 3;

/** Answers a question from the journal, or opens it. */
export function ask<T>(run: Run, flow: Flow, question: Question<T>): ContextPromise<T> {
  const call = run.begin("a", question.key);
  if (call === undefined) return run.refuse(question.key);
  if (question.pinned && flow.definition.answersWithoutState === "accept") {
    throw new VolleyError(
      "context_misused",
      `"${question.key}" is pinned, but ${flow.definition.kind} "${flow.definition.name}" accepts answers without state, ` +
        'which prove nothing. Remove `answersWithoutState: "accept"`, or ask without pinning.',
    );
  }
  const asking = new Asking(run, flow, question, call);
  const found = run.journal.find("a", question.key) ?? acceptLoose(run, flow, question);
  if (found === undefined) asking.openUnanswered();
  else {
    tell(flow, { type: "answered", key: question.key, replayed: !flow.asked.has(question.key) });
    run.replay(found, call, () => asking.useAnswer(found));
  }
  return run.hand(question.key, asking.ends.promise);
}

/** One question on its way to an answer. */
class Asking<T> {
  readonly ends: Deferred<T> = defer<T>();
  readonly #run: Run;
  readonly #flow: Flow;
  readonly #question: Question<T>;
  readonly #call: Call;
  readonly #pin: string | null;
  #tries: number;

  constructor(run: Run, flow: Flow, question: Question<T>, call: Call) {
    this.#run = run;
    this.#flow = flow;
    this.#question = question;
    this.#call = call;
    this.#tries = flow.asked.get(question.key)?.[2] ?? 0;
    this.#pin = question.pinned ? digest(JSON.stringify(question.request)) : null;
  }

  /** Hands the answer out; what checks it may take time. */
  useAnswer(found: Found<AnswerEntry>): void | Promise<void> {
    const [, key, kind, , answeredPin, changes] = found.entry;
    if (kind !== this.#question.kind) {
      this.ends.reject(
        new VolleyError(
          "question_changed",
          `"${key}" was asked as ${kind} and is now ${this.#question.kind}. Use another key for another kind of question.`,
        ),
      );
    } else if (this.#pin !== null && this.#pin !== answeredPin) {
      this.#again(found, "The question has changed since it was answered.", changes + 1);
    } else {
      const use = (reading: Reading<T>): void => {
        if (reading.ok === true) this.ends.resolve(reading.value);
        else if (reading.ok === "thrown") this.ends.reject(reading.error);
        else this.#again(found, reading.reason, changes);
      };
      const reading = this.#question.read(this.#reduced(found));
      if (reading instanceof Promise) return reading.then(use).catch(this.ends.reject);
      use(reading);
    }
  }

  // S15: what a form did not ask for is ignored: nothing rests on it, and no state carries it.
  #reduced({ entry, index }: Found<AnswerEntry>): unknown {
    const [type, key, kind, response, pin, changes] = entry;
    const { fields } = this.#question;
    const { action, content } = response as { readonly action?: string; readonly content?: Record<string, unknown> };
    if (fields === undefined || content === undefined) return response;
    const own = fields.filter(({ name }) => Object.hasOwn(content, name)).map(({ name }) => [name, content[name]]);
    if (own.length === Object.keys(content).length) return response;
    const reduced = { action, content: Object.fromEntries(own) };
    this.#run.journal.entries[index] = [type, key, kind, reduced, pin, changes];
    return reduced;
  }

  /** A question without an answer: new, left out by the client, or answered with something unusable. */
  openUnanswered(): void {
    const { key, kind } = this.#question;
    const standing = this.#flow.standing.get(key);
    if (standing?.question[1] === kind) {
      // Nobody has answered yet: the same question stands.
      this.#open(standing.question[2], standing.question[4], standing.reason);
      return;
    }
    const before = this.#flow.asked.get(key);
    if (before === undefined || before[1] !== kind) {
      const forged = this.#flow.loose.has(key);
      this.#open(0, 0, forged ? "An answer came without requestState and was not used: send both together." : "");
    } else {
      const [, , tries, pinnedTo, changes] = before;
      const changed = this.#pin !== null && this.#pin !== pinnedTo;
      this.#open(tries + 1, changed ? changes + 1 : changes, "No usable answer came.");
    }
  }

  /** Takes an answer that comes while the run goes on. */
  #answer(response: unknown, changes: number): void {
    const { key, kind } = this.#question;
    const answer = reduceAnswer(kind, response);
    if (answer === undefined) {
      this.#open(this.#tries + 1, changes, "No usable answer came.");
      return;
    }
    tell(this.#flow, { type: "answered", key, replayed: false });
    const entry: AnswerEntry = ["a", key, kind, answer, this.#pin, changes];
    this.#run.record(entry, this.#call, () => {
      const found = this.#run.journal.find("a", key);
      return found && this.useAnswer(found);
    });
  }

  #again(found: Found<AnswerEntry>, reason: string, changes: number): void {
    this.#flow.takeBack(found.index);
    this.#open(this.#tries + 1, changes, reason);
  }

  #open(tries: number, changes: number, reason: string): void {
    const { key, kind, request } = this.#question;
    if (changes >= MOST_CHANGES) {
      this.ends.reject(
        new VolleyError(
          "question_changed",
          `The question "${key}" is another one each round. Build what it says in a step: \`await ctx.step("${key}-text", ...)\`.`,
        ),
      );
    } else if (tries > MOST_TRIES) {
      this.ends.reject(new VolleyError("no_answer", `No usable answer to "${key}" came in ${tries} tries. ${reason}`));
    } else {
      if (this.#flow.services.development && kind === "form") warn(this.#flow, request);
      if (reason !== "") {
        this.#flow.services.trace?.({
          type: "asked_again",
          within: this.#flow.traced,
          target: this.#flow.definition.name,
          key,
          reason,
        });
      }
      this.#tries = tries;
      tell(this.#flow, { type: "asked", key, tries });
      this.#run.open({
        key,
        request: reason === "" ? request : withReason(request, reason),
        author: request,
        reason,
        question: [key, kind, tries, this.#pin, changes, 0],
        call: this.#call,
        openedAt: this.#run.mark(),
        answer: (response) => this.#answer(response, changes),
      });
    }
  }
}

/** Links in a form are a way to phish (S22); only the author can tell whether these are meant as links. */
function warn(flow: Flow, { params }: InputRequest): void {
  const { message, requestedSchema } = params as ElicitRequestFormParams;
  for (const text of formWarnings(message, requestedSchema)) {
    flow.services.trace?.({ type: "warning", target: flow.definition.name, message: text });
  }
}

function withReason(request: InputRequest, reason: string): InputRequest {
  if (request.method !== "elicitation/create") return request;
  return { method: request.method, params: { ...request.params, message: `${request.params.message}\n\n${reason}` } };
}

function acceptLoose<T>(run: Run, flow: Flow, question: Question<T>): Found<AnswerEntry> | undefined {
  if (flow.definition.answersWithoutState !== "accept" || !flow.loose.has(question.key)) return undefined;
  const response = reduceAnswer(question.kind, flow.loose.get(question.key));
  if (response === undefined) return undefined;
  const entry: AnswerEntry = ["a", question.key, question.kind, response, null, 0];
  return { entry, index: run.journal.add(entry, false) };
}

/**
 * Keeps of a peer's answer what its kind has, or undefined when it is of no use.
 *
 * A decline or cancel is one whatever stands beside it: its content is never looked at.
 */
export function reduceAnswer(kind: AskKind, response: unknown): unknown {
  if (kind === "sampling") return cleanCreateMessageResult(response);
  if (kind === "roots") return cleanRoots(response);
  if (!isObject(response)) return undefined;
  switch (response.action) {
    case "decline":
    case "cancel":
      return { action: response.action };
    case "accept":
      if (kind === "url") return { action: "accept" };
      return isObject(response.content) ? { action: "accept", content: response.content } : undefined;
    default:
      return undefined;
  }
}
