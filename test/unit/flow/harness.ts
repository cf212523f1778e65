import { randomBytes } from "node:crypto";
import {
  type Context,
  createRounds,
  defineFlow,
  type FlowOptions,
  type RoundReply,
  type RoundServices,
  type TraceEvent,
} from "../../../src/flow/index.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { createMemoryLedger } from "../../../src/ledger/memory.ts";
import type { ClientCapabilities, InputRequiredResult } from "../../../src/protocol/index.ts";
import { ANONYMOUS, createKeyring, createSealer, generateKey, type Principal } from "../../../src/state/index.ts";
import { createFakeClock, type FakeClock } from "../../../src/testing/fake-clock.ts";

export type Handler = (args: Record<string, unknown>, ctx: Context) => unknown;

export interface Leg {
  readonly args?: Record<string, unknown>;
  readonly state?: unknown;
  readonly responses?: unknown;
  readonly principal?: Principal;
  readonly capabilities?: ClientCapabilities;
  readonly handler?: Handler;
  readonly options?: FlowOptions;
  readonly onAbort?: (listener: (reason: Error) => void) => void;
}

export interface Harness {
  readonly clock: FakeClock;
  readonly events: TraceEvent[];
  readonly notifications: { readonly method: string; readonly params: Record<string, unknown> }[];
  play(leg?: Leg): Promise<RoundReply>;
  /** A round that must ask: its requests and state. */
  asks(leg?: Leg): Promise<InputRequiredResult>;
  /** A round that must end: the handler's value. */
  ends(leg?: Leg): Promise<unknown>;
}

export const ALL: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
};

export const accept = (content: Record<string, unknown>): { action: string; content: Record<string, unknown> } => ({
  action: "accept",
  content,
});

/** Plays rounds of one handler with real keys, a real seal and a clock that stands still. */
export function harness(
  handler: Handler,
  options: FlowOptions = {},
  wrap: (ledger: Ledger) => Ledger = (ledger) => ledger,
  more: Partial<RoundServices> = {},
): Harness {
  const clock = createFakeClock();
  const events: TraceEvent[] = [];
  const notifications: { method: string; params: Record<string, unknown> }[] = [];
  const keyring = createKeyring([generateKey()]);
  const rounds = createRounds({
    sealer: createSealer({ keyring, audience: "https://tracker.example/mcp" }),
    keyring,
    ledger: wrap(createMemoryLedger({ now: clock.now })),
    clock,
    random: randomBytes,
    trace: (event) => events.push(event),
    development: true,
    ...more,
  });
  const play = (leg: Leg = {}): Promise<RoundReply> => {
    const args = leg.args ?? {};
    return rounds.play(
      {
        method: "tools/call",
        target: "probe",
        arguments: args,
        requestState: leg.state,
        inputResponses: leg.responses,
        principal: leg.principal ?? ANONYMOUS,
        client: { info: undefined, capabilities: leg.capabilities ?? ALL },
        progressToken: "p1",
        logLevel: "info",
        exchange: {
          notify: (method, params) => void notifications.push({ method, params }),
          onAbort: leg.onAbort ?? (() => {}),
        },
      },
      defineFlow("tool", "probe", leg.options ?? options),
      (ctx) => (leg.handler ?? handler)(args, ctx),
    );
  };
  return {
    clock,
    events,
    notifications,
    play,
    async asks(leg) {
      const reply = await play(leg);
      if (reply.type !== "input_required") throw new Error(`ended with ${JSON.stringify(reply)}`);
      return reply.result;
    },
    async ends(leg) {
      const reply = await play(leg);
      if (reply.type !== "complete") throw new Error(`asked ${JSON.stringify(reply.result)}`);
      return reply.value;
    },
  };
}
