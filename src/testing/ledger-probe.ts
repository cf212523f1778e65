// What the checks of the ledger contract have in common.
import { deepStrictEqual, fail } from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Claim, ClaimResult, Hold, Ledger } from "../ledger/index.ts";
import { VolleyError } from "../protocol/index.ts";
import type { LedgerCheck, LedgerStore } from "./ledger-contract.ts";

export const VALUE: Uint8Array = bytes("paid");
const TIMEOUT_MS = 30_000;

/** The connections of one check: `ledger` and `other` are the first two of them. */
export interface Probe {
  readonly ledger: Ledger;
  readonly other: Ledger;
  readonly all: readonly Ledger[];
  readonly store: LedgerStore;
}

/** A check with connections of its own. */
export function check(name: string, run: (probe: Probe) => Promise<void>, connections = 2): LedgerCheck {
  return {
    name,
    timeoutMs: TIMEOUT_MS,
    async run(store) {
      const all: Ledger[] = [];
      try {
        while (all.length < connections) {
          const opened = await store.open();
          all.push(opened);
          // The check's times begin when its connections are there.
          await opened.renew(holdOf(claimOf()), 1_000);
        }
        const [ledger, other] = all as [Ledger, Ledger];
        await run({ ledger, other, all, store });
      } finally {
        await Promise.all(all.map((each) => each.close?.()));
      }
    },
  };
}

/** A check for stores that can do more. */
export function checkWith<Needed extends "count" | "outage">(
  needs: Needed,
  name: string,
  run: (probe: Probe, needed: NonNullable<LedgerStore[Needed]>) => Promise<void>,
): LedgerCheck {
  const all = check(name, async (probe) => {
    const needed = probe.store[needs];
    if (needed === undefined) {
      throw new VolleyError(
        "invalid_options",
        `This check needs \`${needs}\` of the store: leave it out, by its \`needs\`.`,
      );
    }
    await run(probe, needed);
  });
  return { ...all, needs };
}

const RUN = randomUUID();
let rows = 0;

/** A row that no other check or run uses. */
export function rowOf(name = "row"): string {
  rows += 1;
  return `${name}-${RUN}-${rows}`;
}

/** A claim on a row of its own, good for a minute, unless it says otherwise. */
export function claimOf(claim: Partial<Claim> = {}): Claim {
  const minute = Date.now() + 60_000;
  return {
    row: rowOf(),
    name: "pay",
    owner: "one",
    answers: {},
    deadline: minute,
    keepUntil: minute,
    leaseMs: 10_000,
    ...claim,
  };
}

export function holdOf({ row, name, owner }: Claim, epoch = 1): Hold {
  return { row, name, owner, epoch };
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function text(value: Uint8Array): string {
  return new TextDecoder().decode(value);
}

/** A result as a plain object, with its values as text. */
export function shown(result: ClaimResult): unknown {
  if (result.status === "settled") {
    return { status: "settled", settled: { ...result.settled, value: text(result.settled.value) } };
  }
  if (result.status !== "conflict") return { ...result };
  return {
    status: "conflict",
    settled: result.settled.map((settled) => ({ ...settled, value: text(settled.value) })),
  };
}

export const CLAIMED = { status: "claimed", epoch: 1 };
export const RUNNING = { status: "running" };

/** What becomes of a claim. */
export async function expectClaim(ledger: Ledger, claim: Claim, expected: object, why?: string): Promise<void> {
  deepStrictEqual(shown(await ledger.claim(claim)), expected, why);
}

/** Tries until it gives what is expected, or gives up with the last of what came. */
export async function eventually<T>(look: () => Promise<T>, isRight: (value: T) => boolean, ms: number): Promise<void> {
  const giveUpAt = performance.now() + ms;
  for (;;) {
    const value = await look();
    if (isRight(value)) return;
    if (performance.now() > giveUpAt) fail(`It has not come about in ${ms} ms: ${JSON.stringify(value)}`);
    await sleep(20);
  }
}
