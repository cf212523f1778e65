import type { Rounds } from "../flow/index.ts";
import { ErrorCode, isRequest, type RequestId, RpcError, readMessage, VolleyError } from "../protocol/index.ts";
import { admit, namesVersion, refuseInitialize } from "./admission.ts";
import type { Allowance } from "./allowance.ts";
import type { Call, Reply } from "./call.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import { tellCaller } from "./error-policy.ts";
import type { EventBus } from "./events.ts";
import { createHub, type Hub } from "./listen.ts";
import type { ListMethod } from "./lists.ts";
import { createPromptGet, createResourceRead, type Method, type Request, type Services } from "./methods.ts";
import type { Settings } from "./options.ts";
import { methodNotFound, Refusal, tooMany } from "./refusal.ts";
import { createRegistry, type Registry } from "./registry.ts";
import { createResults, errorResponse, resultResponse } from "./results.ts";
import { RunningCalls } from "./running.ts";
import type { AttachedTasks } from "./task-service.ts";
import { createTaskPlay, createToolCall, type TaskPlay } from "./tool-calls.ts";

export interface Route {
  readonly run: Method;
  /** Counts against what a caller may ask for in a minute, and against what may run at once. */
  readonly counted: boolean;
}

const ACCEPTED: Reply = { status: 202, body: undefined };
const DRAIN_POLL_MS = 20;

/** The server behind every transport: a parsed message and its call go in, the text of a response comes out. */
export class Core {
  readonly settings: Settings;
  readonly registry: Registry = createRegistry();
  readonly catalog: Catalog;
  /** Runs the handler of a task, for workers. */
  readonly playTask: TaskPlay;
  /** A transport has begun to serve. */
  serving = false;
  /** Another process may serve the same clients or run the same tasks, unless the author says that there is none. */
  mayBeMany = false;
  readonly #hub: Hub;
  readonly #tasks: AttachedTasks | undefined;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #allowance: Allowance;
  /** Calls whose handlers run. */
  readonly #active = new RunningCalls();
  /** Requests that are not answered yet, whatever answers them. */
  #unanswered = 0;
  #closing = false;

  constructor(settings: Settings, rounds: Rounds, allowance: Allowance, bus: EventBus, tasks?: AttachedTasks) {
    this.settings = settings;
    const results = createResults({ ...settings.info });
    const services: Services = { registry: this.registry, rounds, results, settings, tasks };
    this.playTask = createTaskPlay(services);
    this.#tasks = tasks;
    this.catalog = createCatalog(services);
    this.#hub = createHub(bus, settings);
    this.#allowance = allowance;

    const list = (method: ListMethod): [string, Route] => [method, { run: this.catalog.list(method), counted: false }];
    this.#routes = new Map<string, Route>([
      ["tools/call", { run: createToolCall(services), counted: true }],
      ["prompts/get", { run: createPromptGet(services), counted: true }],
      ["resources/read", { run: createResourceRead(services), counted: true }],
      ["completion/complete", { run: this.catalog.complete, counted: true }],
      ["server/discover", { run: this.catalog.discover, counted: false }],
      list("tools/list"),
      list("prompts/list"),
      list("resources/list"),
      list("resources/templates/list"),
      [
        "subscriptions/listen",
        {
          run: (request) => this.#listen(request),
          counted: false,
        },
      ],
      ...(tasks?.routes ?? []),
    ]);
  }

  async #listen(request: Request): Promise<string> {
    const watch = await this.#tasks?.watch(request);
    const { params, id, call } = request;
    return await this.#hub.listen(params, id, call, this.catalog.capabilities(), watch);
  }

  /** Answers one message as it came off the wire. */
  receive(text: string, call: Call): Reply | Promise<Reply> {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return { status: 400, body: errorResponse(undefined, ErrorCode.ParseError, "The body is not JSON.") };
    }
    return this.handle(message, call);
  }

  /** Answers one parsed message. Errors of the message itself are HTTP errors, errors of its handler are not. */
  handle(message: unknown, call: Call): Reply | Promise<Reply> {
    let id: RequestId | undefined;
    let status = 400;
    try {
      const request = readMessage(message);
      if (!isRequest(request)) return ACCEPTED;
      id = request.id;
      const { method, params } = request;
      if (this.#closing) throw closing();
      if (method === "initialize" && !namesVersion(params)) throw refuseInitialize(params, this.settings.trace);
      const meta = admit(method, params, call.headers);
      const route = this.#routes.get(method);
      if (!route) throw methodNotFound(`Method not found: ${method.slice(0, 128)}`);
      if (route.counted && this.full) throw tooMany(this.settings.trace, "inFlight", "Too many requests at once.", 1);
      const granted = route.counted ? this.#allowance.call(call.principal) : undefined;
      status = 200;
      const admitted: Request = { id, params: params as Record<string, unknown>, meta, call };
      const result = granted === undefined ? route.run(admitted) : granted.then(() => route.run(admitted));
      if (typeof result === "string") return { status, body: resultResponse(id, result) };
      return this.#settle(result, id, call, route.counted);
    } catch (error) {
      return this.fail(error, id, status);
    }
  }

  /** Whether as many handlers run as may. */
  get full(): boolean {
    const { inFlight } = this.settings.limits;
    if (this.#active.size >= inFlight) this.#active.dropGone();
    return this.#active.size >= inFlight;
  }

  async #settle(result: Promise<string>, id: RequestId, call: Call, counted: boolean): Promise<Reply> {
    this.#unanswered++;
    if (counted) this.#active.add(call);
    try {
      return { status: 200, body: resultResponse(id, await result) };
    } catch (error) {
      return this.fail(error, id, 200);
    } finally {
      if (counted) this.#active.delete(call);
      this.#unanswered--;
    }
  }

  /** The reply to a failure. Faults of ours keep their detail for the trace. */
  fail(error: unknown, id: RequestId | undefined, status: number): Reply {
    if (!RpcError.is(error)) {
      const message = tellCaller(this.settings, "server", error, "Internal error.");
      return { status: 500, body: errorResponse(id, ErrorCode.InternalError, message) };
    }
    const code = error instanceof Refusal ? error.code : handlersCode(error.code);
    const body = errorResponse(id ?? error.requestId, code, error.message, json(error.data));
    if (error instanceof Refusal) {
      const { retryAfter } = error;
      return retryAfter === undefined ? { status: error.status, body } : { status: error.status, body, retryAfter };
    }
    // The one code whose status the specification fixes wherever it arises.
    return { status: error.code === ErrorCode.MissingRequiredClientCapability ? 400 : status, body };
  }

  /** Ends subscriptions, lets running requests finish for `graceMs`, then tells their handlers to stop. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#hub.close();
    this.#tasks?.close();
    await this.#drain(graceMs);
    const reason = new VolleyError("closed", "The server is closing.");
    this.#active.abort(reason);
    await this.#drain(Math.min(graceMs, 1_000));
  }

  async #drain(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (this.#unanswered > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    }
  }
}

function closing(): Refusal {
  return new Refusal(503, ErrorCode.Unavailable, "The server is closing. Try again.", undefined, 1);
}

/**
 * What a handler may pass on of what another server said: no codes of earlier revisions, and not that it was never called,
 * upon which clients call again.
 */
function handlersCode(code: number): number {
  if (code === -32002) return ErrorCode.InvalidParams;
  if (code === -32042 || code === ErrorCode.Unavailable) return ErrorCode.InternalError;
  return code;
}

/** An error's data as far as JSON carries it. */
function json(data: unknown): unknown {
  try {
    return data === undefined ? undefined : JSON.parse(JSON.stringify(data));
  } catch {
    return undefined;
  }
}
