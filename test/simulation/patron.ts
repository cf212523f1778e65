// A client of the simulation: our own client by hand, whose person answers, hesitates, answers twice, and comes back to
// questions that were answered long ago.
import {
  type Client,
  connect,
  type PendingData,
  type PendingRound,
  type Started,
  type TaskHandle,
} from "../../src/client/index.ts";
import { isInputRequiredResult, META, PROTOCOL_VERSION, RpcError, VolleyError } from "../../src/protocol/index.ts";
import type { Principal } from "../../src/state/index.ts";
import type { Fleet } from "./fleet.ts";
import { connectionTo, startsTask } from "./network.ts";
import type { Told } from "./play-handler.ts";
import type { Shape } from "./shapes.ts";
import type { Process } from "./world.ts";

/** A state that waits for answers, and what was answered on the way to it. */
export interface Branch {
  /** Which of the flow's forks it belongs to, and how far that is. */
  readonly fork: number;
  readonly depth: number;
  readonly data: PendingData;
  readonly path: ReadonlyMap<string, unknown>;
}

/** What somebody was told at the end of a path. */
export interface Hearing {
  readonly order: string;
  readonly told: Told;
  readonly path: ReadonlyMap<string, unknown>;
  readonly askedAt: number;
  readonly heardAt: number;
}

export type Step =
  | { readonly type: "waits"; readonly branch: Branch }
  | ({ readonly type: "told" } & Hearing)
  | { readonly type: "task"; readonly task: TaskHandle; readonly path: ReadonlyMap<string, unknown> }
  | { readonly type: "refused" }
  | { readonly type: "unheard" }
  | { readonly type: "failed"; readonly message: string };

type Answer = {
  readonly action: "accept";
  readonly content: { readonly value: string } | { readonly confirm: boolean };
};

/** How a patron speaks with the fleet, step by step. */
export class Patron {
  readonly fleet: Fleet;
  readonly process: Process;
  readonly principal: Principal;
  readonly shape: Shape;
  readonly client: Client;
  /** A task that began at once begins anew under another order. */
  order: string;
  /** How many orders it has begun. */
  orders = 1;
  #starts = 0;

  private constructor(fleet: Fleet, process: Process, principal: Principal, shape: Shape, client: Client) {
    this.fleet = fleet;
    this.process = process;
    this.principal = principal;
    this.shape = shape;
    this.client = client;
    this.order = process.name;
  }

  static async arrive(fleet: Fleet, order: string, shape: Shape): Promise<Patron> {
    const process = fleet.world.process(order);
    const principal: Principal = { type: "user", issuer: "simulation", subject: order };
    const legTimeoutMs = fleet.world.luck.pick(`${order}/patience`, [4_000, 8_000, 8_000, 60_000]);
    const client = await connect(connectionTo(fleet, { process, principal }), {
      legTimeoutMs,
      onWarning: () => undefined,
    });
    return new Patron(fleet, process, principal, shape, client);
  }

  /** @param anew whether what began before may have done something: then it is another order */
  async start(anew: boolean): Promise<Step> {
    this.#starts += 1;
    if (this.#starts > 1 && (anew || startsTask(this.shape))) {
      this.orders += 1;
      this.order = `${this.process.name}-${this.orders}`;
    }
    const params = { name: this.shape.name, arguments: { order: this.order } };
    return await this.#settle(this.client.start("tools/call", params), { fork: 0, depth: 0, path: new Map() });
  }

  /** Brings answers back to a state. */
  async advance(branch: Branch, answers: ReadonlyMap<string, Answer>, signal?: AbortSignal): Promise<Step> {
    const path = pathWith(branch, answers);
    const { world } = this.fleet;
    world.note(this.order, `answers ${this.#name(branch)} ${JSON.stringify(Object.fromEntries(path))}`);
    const round = this.client.resume(branch.data);
    for (const [key, answer] of answers) round.answer(key, answer);
    const going = round.continue(signal === undefined ? {} : { signal });
    return await this.#settle(going, { fork: branch.fork, depth: branch.depth + 1, path });
  }

  /** What the person says to each question; another fork says something else. */
  answersTo(branch: Branch, fork: number): Map<string, Answer> {
    return new Map(
      Object.entries(branch.data.requests).map(([key, { params }]) => {
        const { properties } = (params as { requestedSchema: { properties: object } }).requestedSchema;
        const content =
          "confirm" in properties ? { confirm: fork % 2 === 0 } : { value: `${this.order}.${key}.${fork}` };
        return [key, { action: "accept", content }];
      }),
    );
  }

  /** Sends a message as it is, as anybody can who has seen one. */
  async raw(
    branch: Branch,
    answers: ReadonlyMap<string, Answer>,
    change: {
      readonly forged?: string;
      readonly order?: string;
      readonly tool?: string;
      readonly state?: string;
      readonly principal?: Principal;
    },
  ): Promise<Step> {
    const { data } = branch;
    const { forged, principal = this.principal } = change;
    const transport = connectionTo(this.fleet, {
      process: this.process,
      principal,
      ...(forged === undefined ? {} : { forged }),
    });
    const params = {
      name: change.tool ?? this.shape.name,
      arguments: { order: change.order ?? this.order },
      requestState: change.state ?? data.requestState,
      inputResponses: Object.fromEntries(answers),
      _meta: {
        [META.protocolVersion]: PROTOCOL_VERSION,
        [META.clientCapabilities]: { elicitation: { form: {} } },
      },
    };
    const ending = new AbortController();
    const { world } = this.fleet;
    const askedAt = world.time;
    const timer = world.after(60_000, this.process, () => ending.abort(new VolleyError("timeout", "no answer")));
    try {
      const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params } as const;
      const response = await transport.send(request, {
        headers: {},
        signal: ending.signal,
        onNotification: () => undefined,
      });
      if ("error" in response)
        return this.#failed(new RpcError(response.error.code, response.error.message, response.error.data));
      const { result } = response;
      const path = pathWith(branch, answers);
      if (!isInputRequiredResult(result)) return this.#told(result as { content?: unknown }, path, askedAt);
      const { requestState = "", inputRequests = {} } = result;
      const next = { ...data, requests: inputRequests, requestState, round: data.round + 1 };
      return { type: "waits", branch: { fork: branch.fork, depth: branch.depth + 1, data: next, path } };
    } catch (error) {
      return this.#failed(error);
    } finally {
      timer.cancelled = true;
    }
  }

  async #settle(
    going: Promise<Started<"tools/call">> | Promise<Started<PendingRound["method"]>>,
    to: Pick<Branch, "fork" | "depth" | "path">,
  ): Promise<Step> {
    const askedAt = this.fleet.world.time;
    let started: Started<"tools/call">;
    try {
      started = (await going) as Started<"tools/call">;
    } catch (error) {
      return this.#failed(error);
    }
    if (!started.done) return { type: "waits", branch: { ...to, data: started.toJSON() } };
    if (started.task !== undefined) return { type: "task", task: started.task, path: to.path };
    return this.#told(started.result, to.path, askedAt);
  }

  #told(result: { content?: unknown; isError?: unknown }, path: Branch["path"], askedAt: number): Step {
    const told = readTold(result);
    const { world } = this.fleet;
    world.note(this.order, `hears ${JSON.stringify(told ?? result)}`);
    if (told === undefined) return { type: "failed", message: JSON.stringify(result) };
    return { type: "told", order: this.order, told, path, askedAt, heardAt: world.time };
  }

  #failed(error: unknown): Step {
    const { world } = this.fleet;
    if (RpcError.is(error)) {
      world.note(this.order, `is refused: ${error.code} ${error.message}`);
      const { reason } = (error.data ?? {}) as { reason?: unknown };
      return reason === "state_refused" || reason === "state_expired"
        ? { type: "refused" }
        : { type: "failed", message: `${error.code} ${error.message}` };
    }
    if (VolleyError.is(error) && ["connection_failed", "timeout", "aborted"].includes(error.code)) {
      world.note(this.order, `hears nothing: ${error.code}`);
      return { type: "unheard" };
    }
    return { type: "failed", message: String(error) };
  }

  #name({ fork, depth }: Branch): string {
    return `${fork}.${depth}`;
  }
}

export function readTold(result: { content?: unknown; isError?: unknown }): Told | undefined {
  if (result.isError === true) return undefined;
  const [first] = result.content as { text?: string }[];
  return JSON.parse(first?.text ?? "null") as Told;
}

function pathWith(branch: Branch, answers: ReadonlyMap<string, Answer>): Map<string, unknown> {
  const path = new Map(branch.path);
  for (const [key, { content }] of answers) path.set(key, "confirm" in content ? content.confirm : content.value);
  return path;
}
