// Case 36 played for real: two instances of a service that share keys and a ledger, and one last leg sent to both.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { createRounds, defineFlow, type RoundReply, systemClock } from "../../src/flow/index.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { ANONYMOUS, createKeyring, createSealer, generateKey } from "../../src/state/index.ts";

const Amount = z.object({ amount: z.number() });

/** How often the effect happened, and what each instance told its client. */
export async function playLastLegTwice(
  ledgers: readonly Ledger[],
  key = "amount",
): Promise<{ effects: number; told: unknown[] }> {
  const keys = [generateKey()];
  let effects = 0;
  const instances = ledgers.map((ledger) => {
    const keyring = createKeyring(keys);
    const sealer = createSealer({ keyring, audience: "https://shop.example/mcp" });
    const services = { keyring, sealer, ledger, clock: systemClock, random: randomBytes, trace: undefined };
    return createRounds({ ...services, development: false });
  });
  const play = async (instance: number, requestState: unknown, inputResponses: unknown): Promise<RoundReply> => {
    const rounds = instances[instance];
    if (rounds === undefined) throw new Error(`no instance ${instance}`);
    return await rounds.play(
      {
        method: "tools/call",
        target: "pay",
        arguments: {},
        requestState,
        inputResponses,
        principal: ANONYMOUS,
        client: { info: undefined, capabilities: { elicitation: { form: {} } } },
        progressToken: undefined,
        logLevel: undefined,
        exchange: { notify: () => {}, onAbort: () => {} },
      },
      defineFlow("tool", "pay"),
      async (ctx) => {
        const { amount } = await ctx.elicit(key, { message: "How much?", schema: Amount });
        return await ctx.once("pay", async () => {
          effects += 1;
          await sleep(50);
          return `paid ${amount}`;
        });
      },
    );
  };
  const first = await play(0, undefined, undefined);
  if (first.type !== "input_required") throw new Error(first.type);
  const answers = { [key]: { action: "accept", content: { amount: 5 } } };
  const replies = await Promise.all([0, 1].map((instance) => play(instance, first.result.requestState, answers)));
  return { effects, told: replies.map((reply) => (reply.type === "complete" ? reply.value : reply)) };
}
