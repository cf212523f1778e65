import type { FormSchema } from "../elicit/index.ts";
import {
  type CreateMessageRequestParams,
  type CreateMessageResult,
  LOGGING_LEVELS,
  type LoggingLevel,
  type Root,
} from "../protocol/index.ts";
import type { Principal } from "../state/index.ts";
import { ask } from "./asks.ts";
import type { Context, Elicit, FormQuestion, OnceOptions, Winner, WorkScope } from "./context.ts";
import { never, settled } from "./context-promise.ts";
import type { Flow } from "./flow.ts";
import { toTask } from "./hand-off.ts";
import { once } from "./once.ts";
import { confirmQuestion, formQuestion, orThrow, rootsQuestion, samplingQuestion, urlQuestion } from "./questions.ts";
import { race } from "./race.ts";
import { type Responses, soundOnes } from "./responses.ts";
import type { Run } from "./run.ts";
import { endRound } from "./shedding.ts";
import type { ClientView, TaskOptions } from "./types.ts";
import { sleep, step, use } from "./work.ts";

/** The {@link Context} of one run. */
export class RunContext implements Context {
  readonly #run: Run;
  readonly #flow: Flow;
  #elicit: Elicit | undefined;
  #progress = Number.NEGATIVE_INFINITY;
  readonly #responses: Responses | undefined;
  #sound: Responses | undefined;

  constructor(run: Run, flow: Flow, responses?: Responses) {
    this.#run = run;
    this.#flow = flow;
    this.#responses = responses;
  }

  // Only a handler that reads its answers itself has a use for all of them: they are checked when it does.
  get inputResponses(): Responses | undefined {
    this.#sound ??= this.#responses && soundOnes(this.#responses);
    return this.#sound;
  }

  get elicit(): Elicit {
    this.#elicit ??= Object.assign(
      <S extends FormSchema>(key: string, question: FormQuestion<S>) =>
        ask(this.#run, this.#flow, orThrow(formQuestion(key, question))),
      {
        outcome: <S extends FormSchema>(key: string, question: FormQuestion<S>) =>
          ask(this.#run, this.#flow, formQuestion(key, question)),
      },
    );
    return this.#elicit;
  }

  confirm(key: string, message: string): Promise<boolean> {
    return ask(this.#run, this.#flow, confirmQuestion(key, message));
  }

  elicitUrl(key: string, question: { readonly message: string; readonly url: string }): Promise<void> {
    return ask(this.#run, this.#flow, orThrow(urlQuestion(this.#flow, key, question)));
  }

  createMessage(key: string, params: CreateMessageRequestParams): Promise<CreateMessageResult> {
    return ask(this.#run, this.#flow, samplingQuestion(key, params));
  }

  listRoots(key = "roots"): Promise<readonly Root[]> {
    return ask(this.#run, this.#flow, rootsQuestion(key));
  }

  step<T>(name: string, work: (scope: WorkScope) => T | Promise<T>): Promise<T> {
    return step(this.#run, this.#flow, name, work);
  }

  once<T>(name: string, ...rest: OnceArguments<T>): Promise<T> {
    const [options, effect] = rest.length === 1 ? [{}, rest[0]] : rest;
    return once(this.#run, this.#flow, name, options, effect);
  }

  use<T>(acquire: () => T | Promise<T>, release: (resource: T) => void | Promise<void>): Promise<T> {
    return use(this.#run, this.#flow, acquire, release);
  }

  yield(): Promise<void> {
    if (this.#run.begin("u", "yield") === undefined) return this.#run.refuse("yield");
    if (endRound(this.#run, this.#flow)) return never();
    this.#run.repeats = false;
    return settled(undefined);
  }

  toTask(options: TaskOptions = {}): Promise<void> {
    return toTask(this.#run, this.#flow, options);
  }

  sleep(name: string, ms: number): Promise<void> {
    return sleep(this.#run, this.#flow, name, ms);
  }

  race<C extends Readonly<Record<string, () => unknown>>>(contestants: C): Promise<Winner<C>> {
    return race(this.#run, contestants);
  }

  now(name: string): Promise<number> {
    return this.step(name, () => this.#flow.services.clock.now());
  }

  uuid(name: string): Promise<string> {
    return this.step(name, () => uuidOf(this.#flow.services.random(16)));
  }

  random(name: string): Promise<number> {
    return this.step(name, () => {
      const [a = 0, b = 0, c = 0, d = 0] = this.#flow.services.random(4);
      return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
    });
  }

  progress(progress: number, total?: number, message?: string): void {
    const { progressToken, exchange } = this.#run.request;
    // Progress: the value must rise, and nothing may follow the reply. What an earlier round has told is not told again.
    if (progressToken === undefined || this.#run.silent || !(progress > this.#progress)) return;
    this.#progress = progress;
    exchange.notify("notifications/progress", {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
  }

  log(level: LoggingLevel, data: unknown, logger?: string): void {
    const { logLevel, exchange } = this.#run.request;
    if (logLevel === undefined || this.#run.silent || LOGGING_LEVELS.indexOf(level) < LOGGING_LEVELS.indexOf(logLevel))
      return;
    exchange.notify("notifications/message", { level, ...(logger === undefined ? {} : { logger }), data });
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  get principal(): Principal {
    return this.#run.request.principal;
  }

  get client(): ClientView {
    return this.#run.request.client;
  }

  get round(): number {
    return this.#flow.round;
  }

  get requestState(): string | undefined {
    return this.#flow.manualState;
  }
}

type OnceArguments<T> =
  | [effect: (scope: WorkScope) => T | Promise<T>]
  | [options: OnceOptions<T>, effect: (scope: WorkScope) => T | Promise<T>];

function uuidOf(bytes: Uint8Array): string {
  const octets = [...bytes];
  // RFC 9562, version 4.
  octets[6] = ((octets[6] ?? 0) & 0x0f) | 0x40;
  octets[8] = ((octets[8] ?? 0) & 0x3f) | 0x80;
  const hex = octets.map((octet) => octet.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
