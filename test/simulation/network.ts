// Between clients and servers: what is sent may get lost, come twice, late, or lose its answer; and what is known of each
// state that passes is written down.
import type { Transport } from "../../src/client/index.ts";
import { type JSONRPCRequest, type JSONRPCResponse, META, VolleyError } from "../../src/protocol/index.ts";
import { Call, coreOf } from "../../src/server/index.ts";
import type { Principal } from "../../src/state/index.ts";
import type { Fleet, Member } from "./fleet.ts";
import type { RequestMessage } from "./planted.ts";
import type { Shape } from "./shapes.ts";
import type { Leg, Sealed } from "./stage.ts";
import type { Process } from "./world.ts";

class Delivery extends Call {
  readonly headers = undefined;
  protected write(): boolean {
    return true;
  }
  protected watch(): void {}
}

interface ToolParams {
  readonly name?: string;
  readonly arguments?: { readonly order?: string };
  readonly requestState?: string;
  readonly inputResponses?: unknown;
  readonly _meta: Readonly<Record<string, unknown>>;
}

export interface Caller {
  readonly process: Process;
  readonly principal: Principal;
  /** Why no server may take what it sends. */
  readonly forged?: string;
}

const ANYBODY: Principal = { type: "user", issuer: "simulation", subject: "anybody" };

/** A connection of a client to whichever servers there are. */
export function connectionTo(fleet: Fleet, caller: Caller): Transport {
  const { world } = fleet;
  const { luck } = world;
  return {
    kind: "memory",
    address: "simulation",
    send(request, { signal }) {
      const id = luck.next(`${caller.process.name}/${request.method}`);
      const trouble = luck.which(id, [
        ["lost", 0.03],
        ["answer_lost", 0.05],
        // A call that becomes a task at once is a new task each time.
        ["twice", mayComeTwice(fleet, request) ? 0.05 : 0],
      ]);
      return new Promise<JSONRPCResponse>((resolve, reject) => {
        let open = true;
        const calls: Call[] = [];
        const end = (settle: () => void): void => {
          if (open) settle();
          open = false;
        };
        const breaks = (afterMs: number): void => {
          world.after(afterMs, caller.process, () => end(() => reject(broken())));
        };
        signal.addEventListener("abort", () => {
          end(() => reject(signal.reason));
          world.after(1, undefined, () => {
            for (const call of calls) call.drop(signal.reason);
          });
        });
        if (trouble === "lost") return breaks(luck.latency(`${id}x`));
        const send = (copy: string): void => {
          world.after(
            luck.latency(copy),
            undefined,
            () => {
              const { living } = fleet;
              if (living.length === 0) return breaks(1);
              const member = luck.pick(copy, living);
              member.process.atDeath.push(() => open && breaks(luck.latency(`${copy}x`)));
              world.after(0, member.process, () => {
                const { call, reply } = deliver(fleet, caller, member, request as unknown as RequestMessage, copy);
                calls.push(call);
                void reply.then((text) => {
                  if (trouble === "answer_lost") return breaks(luck.latency(`${copy}<`));
                  world.after(luck.latency(`${copy}<`), caller.process, () => end(() => resolve(JSON.parse(text))));
                });
              });
            },
            "moment",
          );
        };
        send(id);
        if (trouble === "twice") send(`${id}again`);
      });
    },
    close: async () => undefined,
  };
}

/** Hands a request to a server, and writes down what is known of it and of the state that it gets. */
function deliver(fleet: Fleet, caller: Caller, member: Member, request: RequestMessage, id: string) {
  const { world, seen } = fleet;
  const { planted } = fleet.plan;
  const params = request.params as unknown as ToolParams;
  const { requestState: state } = params;
  const sealed = state === undefined ? undefined : seen.states.get(state);
  const arrivedAt = world.now(member.process);
  const order = params.arguments?.order ?? "";
  const answers = JSON.stringify(params.inputResponses ?? {});
  const expired = sealed !== undefined && arrivedAt >= sealed.expiresBy;
  const leg: Leg = {
    order,
    state,
    answers,
    ways: new Map(sealed?.ways),
    forged: caller.forged ?? (expired ? "it had expired" : undefined),
  };
  sealed?.presented.add(answers);
  seen.legs.set(id, leg);
  const call = new Delivery();
  call.principal = planted.forgetsCallers === true ? ANYBODY : caller.principal;
  const _meta = { ...params._meta, [META.clientInfo]: { name: "simulation", version: id } };
  const message = { ...request, params: { ...params, _meta } };
  const core = coreOf(member.server);
  core.mayBeMany = true;
  const send = async (what: RequestMessage): Promise<string> => {
    const { body = "" } = await core.receive(JSON.stringify(planted.request?.(what) ?? what), call);
    note(fleet, member, leg, sealed, arrivedAt, body, String(params.name));
    const { result } = JSON.parse(body) as { result?: { requestState?: string; inputRequests?: object } };
    const isTicket = result?.requestState !== undefined && result.inputRequests === undefined;
    if (planted.playsTickets !== true || !isTicket) return body;
    return await send({ ...what, params: { ...what.params, requestState: result.requestState } });
  };
  return { call, reply: send(message) };
}

function note(
  fleet: Fleet,
  member: Member,
  leg: Leg,
  before: Sealed | undefined,
  arrivedAt: number,
  text: string,
  tool: string,
): void {
  const { world, seen, plan } = fleet;
  const { result, error } = JSON.parse(text) as { result?: { requestState?: string }; error?: { data?: unknown } };
  const now = world.now(member.process);
  if (result?.requestState !== undefined) {
    const { ttlMs = 0, flowMs = 0 } = plan.shapes.find(({ name }) => name === tool)?.options ?? {};
    const deadlineFrom = before?.deadlineFrom ?? arrivedAt + flowMs;
    const deadlineBy = before?.deadlineBy ?? now + flowMs;
    const round = (before?.round ?? 0) + 1;
    const key = `${leg.order}/${round}`;
    const answers = seen.answers.get(key) ?? { presented: new Set(), used: new Set() };
    seen.answers.set(key, answers);
    seen.states.set(result.requestState, {
      ways: new Map(leg.ways),
      expiresBy: Math.min(now + ttlMs, deadlineBy),
      expiresFrom: Math.min(arrivedAt + ttlMs, deadlineFrom),
      deadlineFrom,
      deadlineBy,
      round,
      ...answers,
    });
  }
  const { reason } = (error?.data ?? {}) as { reason?: unknown };
  const refused = reason === "state_refused" || reason === "state_expired";
  if (!refused || leg.forged !== undefined || before === undefined) return;
  const isOver = now >= before.expiresFrom || world.now() >= before.deadlineFrom;
  const isForked =
    plan.shapes.some((shape) => shape.name === tool && shape.options?.singleUse) && before.presented.size > 1;
  if (!isOver && !isForked) world.violate(`${leg.order}: a state was refused to the one for whom it was sealed`);
}

function mayComeTwice({ plan }: Fleet, { method, params }: JSONRPCRequest): boolean {
  const { name, requestState } = params as unknown as ToolParams;
  return (
    method !== "tools/call" ||
    requestState !== undefined ||
    !startsTask(plan.shapes.find((shape) => shape.name === name))
  );
}

export function startsTask(shape: Shape | undefined): boolean {
  return shape?.options?.task !== undefined;
}

function broken(): VolleyError {
  return new VolleyError("connection_failed", "The connection broke.");
}
