// What every ledger must do, whatever it is made of: the contract that everybody gets, and what only our own tests can do.
// Called by one test file a store.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { race } from "../../src/testing/ledger-checks.ts";
import { claimOf, holdOf, VALUE } from "../../src/testing/ledger-probe.ts";
import { type LedgerStore, ledgerContract } from "../../src/testing.ts";
import { startChild } from "./child-process.ts";
import type { StoreKind } from "./stores.ts";
import { playLastLegTwice } from "./two-instances.ts";

/** A store under test. */
export interface Store extends LedgerStore {
  /** How another process finds it; undefined where none can. */
  readonly elsewhere: { readonly kind: StoreKind; readonly location: string } | undefined;
  remove(): Promise<void>;
}

const CALLERS = 64;
const IDS = 3_000;
const CONNECTIONS = 4;

export function contract(make: () => Promise<Store>): void {
  let store: Store;
  let ledgers: Ledger[];
  let ledger: Ledger;
  let other: Ledger;

  beforeAll(async () => {
    store = await make();
    ledgers = [];
    for (let index = 0; index < CONNECTIONS; index += 1) ledgers.push(await store.open());
    [ledger, other] = ledgers as [Ledger, Ledger];
  }, 60_000);
  afterAll(async () => {
    await Promise.all(ledgers.map((each) => each.close?.()));
    await store.remove();
  }, 30_000);

  describe("the contract that volley-mcp/testing exports", () => {
    for (const { name, timeoutMs, needs, run } of ledgerContract) {
      test(name, { timeout: timeoutMs }, async ({ skip }) => {
        if (needs !== undefined && store[needs] === undefined) skip(`the store has no ${needs}`);
        await run(store);
      });
    }
  });

  test(`${CALLERS} callers race for each of ${IDS} ids: ${IDS} winners`, { timeout: 300_000 }, async () => {
    if (store.elsewhere?.kind !== "sqlite") return await race(ledgers, CALLERS, IDS);
    const location = { ...store.elsewhere, callers: CALLERS / CONNECTIONS, ids: IDS };
    const children = Array.from({ length: CONNECTIONS }, (_, index) =>
      startChild({ task: "race", name: `child-${index}`, ...location }),
    );
    // They begin together.
    await Promise.all(children.map((child) => child.said()));
    for (const child of children) child.tell();
    const won = await Promise.all(children.map((child) => child.said()));
    const wins = won.flatMap((line) => JSON.parse(line) as string[]);
    expect([wins.length, new Set(wins).size]).toEqual([IDS, IDS]);
  });

  test("a claim whose owner was killed is in doubt when its lease is over, and can be taken over", async () => {
    if (store.elsewhere === undefined) return;
    const claim = claimOf({ leaseMs: 300, answers: { amount: "5" } });
    const child = startChild({ task: "hold", claim, ...store.elsewhere });
    expect(JSON.parse(await child.said())).toEqual({ status: "claimed", epoch: 1 });
    await child.kill();
    const heir = { ...claim, owner: "two" };
    let result = await other.claim(heir);
    while (result.status === "running") {
      await sleep(50);
      result = await other.claim(heir);
    }
    expect(result).toEqual({ status: "in_doubt" });
    expect(await other.claim({ ...heir, takeOver: true, leaseMs: 10_000 })).toEqual({ status: "claimed", epoch: 2 });
    expect(await other.settle(holdOf(heir, 2), { failed: false, value: VALUE })).toBe(true);
  });

  test("times are the store's, whatever a process takes for now", async () => {
    if (store.elsewhere === undefined) return;
    const claim = claimOf({ deadline: Date.now() + 60_000, leaseMs: 60_000 });
    const late = claimOf({ deadline: Date.now() - 1 });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    try {
      expect(await ledger.claim(claim)).toEqual({ status: "claimed", epoch: 1 });
      expect(await other.claim({ ...claim, owner: "two" })).toEqual({ status: "running" });
      vi.setSystemTime(Date.now() - 7_200_000);
      expect(await other.claim(late)).toEqual({ status: "expired" });
    } finally {
      vi.useRealTimers();
    }
  });

  test("case 23: a row may be called like a member of every object", async () => {
    const claim = claimOf({ row: "__proto__" });
    expect(await ledger.claim(claim)).toEqual({ status: "claimed", epoch: 1 });
    expect(await other.claim({ ...claim, owner: "two" })).toEqual({ status: "running" });
  });

  test("S9, X5, case 36: two instances get the last leg, and the effect happens once", async () => {
    const instances = store.elsewhere === undefined ? [ledger, ledger] : [ledger, other];
    expect(await playLastLegTwice(instances)).toEqual({ effects: 1, told: ["paid 5", "paid 5"] });
  });

  test("case 23: an answer under any key that an author may give is like any other", async () => {
    expect(await playLastLegTwice([ledger, other], "__proto__ \u0000 'é🚀\u2028")).toEqual({
      effects: 1,
      told: ["paid 5", "paid 5"],
    });
  });
}
