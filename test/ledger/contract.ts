// What every ledger must do, whatever it is made of: called by one test file a store.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Claim, ClaimResult, Hold, Ledger } from "../../src/ledger/ledger.ts";
import { startChild } from "./child-process.ts";
import type { StoreKind } from "./stores.ts";
import { playLastLegTwice } from "./two-instances.ts";

/** A store under test. */
export interface Store {
  /** Opens the same record over a connection of its own. */
  open(options?: { readonly timeoutMs?: number }): Promise<Ledger> | Ledger;
  /** How another process finds it; undefined where none can. */
  readonly elsewhere: { readonly kind: StoreKind; readonly location: string } | undefined;
  /** Makes the store go away, and come back with what it had; undefined for a store that ends with the process. */
  readonly outage: { begin(): Promise<void>; end(): Promise<void> } | undefined;
  /** How many rows it holds; undefined where nobody can look. */
  readonly count: (() => Promise<number>) | undefined;
  remove(): Promise<void>;
}

const CALLERS = 64;
const IDS = 3_000;
const CONNECTIONS = 4;
const VALUE = new TextEncoder().encode("paid");

let rows = 0;
/** A claim on a row of its own, good for a minute, unless it says otherwise. */
function claimOf(claim: Partial<Claim> = {}): Claim {
  rows += 1;
  const minute = Date.now() + 60_000;
  return {
    row: `row-${rows}`,
    name: "pay",
    owner: "one",
    answers: {},
    deadline: minute,
    keepUntil: minute,
    leaseMs: 10_000,
    ...claim,
  };
}

function holdOf({ row, name, owner }: Claim, epoch = 1): Hold {
  return { row, name, owner, epoch };
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** A result with its values as text. */
function shown(result: ClaimResult): unknown {
  if (result.status === "settled")
    return { ...result, settled: { ...result.settled, value: text(result.settled.value) } };
  if (result.status !== "conflict") return result;
  return { ...result, settled: result.settled.map((settled) => ({ ...settled, value: text(settled.value) })) };
}

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

  describe("who gets a claim", () => {
    test(`${CALLERS} callers race for each of ${IDS} ids: ${IDS} winners`, { timeout: 300_000 }, async () => {
      if (store.elsewhere?.kind === "sqlite") {
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
        return;
      }
      const wins: string[] = [];
      const statuses = new Set<string>();
      const caller = async (index: number): Promise<void> => {
        const mine = ledgers[index % CONNECTIONS] as Ledger;
        for (let id = 0; id < IDS; id += 1) {
          const { status } = await mine.claim(
            claimOf({ row: `race-${id}`, owner: `caller-${index}`, leaseMs: 300_000 }),
          );
          statuses.add(status);
          if (status === "claimed") wins.push(`race-${id}`);
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));
      expect([wins.length, new Set(wins).size]).toEqual([IDS, IDS]);
      expect([...statuses].sort()).toEqual(["claimed", "running"]);
    });

    test("callers who race to take over what is in doubt: one an effect", async () => {
      const claims = Array.from({ length: 40 }, () => claimOf());
      for (const claim of claims) {
        await ledger.claim(claim);
        await ledger.doubt(holdOf(claim));
      }
      const tries = claims.flatMap((claim) =>
        Array.from({ length: 16 }, (_, index) =>
          (ledgers[index % CONNECTIONS] as Ledger).claim({ ...claim, owner: `heir-${index}`, takeOver: true }),
        ),
      );
      const results = await Promise.all(tries);
      expect(results.filter(({ status }) => status === "claimed")).toEqual(
        claims.map(() => ({ status: "claimed", epoch: 2 })),
      );
      expect(results.filter(({ status }) => status === "running")).toHaveLength(40 * 15);
    });

    test("a claim that is tried again by its owner finds itself", async () => {
      const claim = claimOf();
      expect(await ledger.claim(claim)).toEqual({ status: "claimed", epoch: 1 });
      expect(await other.claim(claim)).toEqual({ status: "claimed", epoch: 1 });
      expect(await other.claim({ ...claim, owner: "two" })).toEqual({ status: "running" });
      expect(await other.claim({ ...claim, owner: "two", takeOver: true })).toEqual({ status: "running" });
    });

    test("a settled effect tells the same to everybody, whether it went well or not", async () => {
      for (const failed of [false, true]) {
        const claim = claimOf({ answers: { amount: "5" } });
        await ledger.claim(claim);
        expect(await ledger.settle(holdOf(claim), { failed, value: VALUE })).toBe(true);
        for (const owner of ["one", "two"]) {
          expect(shown(await other.claim({ ...claim, owner }))).toEqual({
            status: "settled",
            settled: { name: "pay", failed, value: "paid" },
          });
        }
        expect(await ledger.settle(holdOf(claim), { failed: false, value: VALUE })).toBe(false);
      }
    });

    test("a released effect is as if it had never been", async () => {
      const claim = claimOf({ answers: { amount: "5" } });
      await ledger.claim(claim);
      expect(await ledger.release(holdOf(claim))).toBe(true);
      expect(await ledger.release(holdOf(claim))).toBe(false);
      const corrected = { ...claim, owner: "two", answers: { amount: "6" } };
      expect(await other.claim(corrected)).toEqual({ status: "claimed", epoch: 1 });
    });
  });

  describe("which answers are committed", () => {
    test("two forks of a flow with different answers: one effect, and the other hears what was done", async () => {
      const fork = claimOf({ answers: { amount: "5", sure: "yes" } });
      const corrected = { ...fork, owner: "two", answers: { amount: "6", sure: "yes" } };
      expect(await ledger.claim(fork)).toEqual({ status: "claimed", epoch: 1 });
      expect(await other.claim(corrected)).toEqual({ status: "running" });
      expect(await ledger.settle(holdOf(fork), { failed: false, value: VALUE })).toBe(true);
      const conflict = { status: "conflict", settled: [{ name: "pay", failed: false, value: "paid" }] };
      expect(shown(await other.claim(corrected))).toEqual(conflict);
      expect(shown(await other.claim({ ...corrected, name: "ship" }))).toEqual(conflict);
      expect(shown(await other.claim({ ...corrected, takeOver: true }))).toEqual(conflict);
      expect(shown(await other.claim({ ...fork, owner: "two" }))).toMatchObject({ status: "settled" });
    });

    test("answers that nothing rests on may change, and more may come", async () => {
      const claim = claimOf({ answers: { amount: "5" } });
      await ledger.claim(claim);
      await ledger.settle(holdOf(claim), { failed: false, value: VALUE });
      const more = { ...claim, name: "ship", answers: { amount: "5", address: "home" } };
      expect(await other.claim(more)).toEqual({ status: "claimed", epoch: 1 });
      const elsewhere = { ...claim, name: "mail", owner: "two", answers: { amount: "5", address: "work" } };
      expect(await other.claim(elsewhere)).toEqual({ status: "running" });
      await ledger.release(holdOf(more));
      expect(await other.claim(elsewhere)).toEqual({ status: "claimed", epoch: 1 });
    });

    test("an effect in doubt commits its answers too", async () => {
      const claim = claimOf({ answers: { amount: "5" } });
      await ledger.claim(claim);
      expect(await ledger.doubt(holdOf(claim))).toBe(true);
      const corrected = { ...claim, owner: "two", answers: { amount: "6" }, takeOver: true };
      expect(await other.claim(corrected)).toEqual({ status: "conflict", settled: [] });
      expect(await other.claim({ ...claim, owner: "two" })).toEqual({ status: "in_doubt" });
    });

    test("a conflict names every settled effect of the row in order", async () => {
      const claim = claimOf({ answers: { amount: "5" } });
      for (const name of ["reserve", "pay", "ship"]) {
        await ledger.claim({ ...claim, name });
        await ledger.settle(holdOf({ ...claim, name }), { failed: name === "ship", value: VALUE });
      }
      await ledger.claim({ ...claim, name: "mail" });
      expect(shown(await other.claim({ ...claim, answers: { amount: "6" } }))).toEqual({
        status: "conflict",
        settled: [
          { name: "reserve", failed: false, value: "paid" },
          { name: "pay", failed: false, value: "paid" },
          { name: "ship", failed: true, value: "paid" },
        ],
      });
    });
  });

  describe("owners that die or sleep", () => {
    test("a claim whose owner died is in doubt when its lease is over, and can be taken over", async () => {
      const claim = claimOf({ leaseMs: 300, answers: { amount: "5" } });
      if (store.elsewhere === undefined) await ledger.claim(claim);
      else {
        const child = startChild({ task: "hold", claim, ...store.elsewhere });
        expect(JSON.parse(await child.said())).toEqual({ status: "claimed", epoch: 1 });
        await child.kill();
      }
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

    test("an owner that was paused finds its claim lost to whoever recovered meanwhile", async () => {
      const claim = claimOf({ leaseMs: 50 });
      await ledger.claim(claim);
      await sleep(80);
      const heir = { ...claim, owner: "two", takeOver: true, leaseMs: 10_000 };
      expect(await other.claim(heir)).toEqual({ status: "claimed", epoch: 2 });
      const paused = holdOf(claim);
      expect(await ledger.renew(paused, 10_000)).toBe(false);
      expect(await ledger.settle(paused, { failed: false, value: VALUE })).toBe(false);
      expect(await ledger.release(paused)).toBe(false);
      expect(await ledger.doubt(paused)).toBe(false);
      // Nor with the epoch that it could guess, nor by its own hand with the old one.
      expect(await ledger.settle({ ...paused, epoch: 2 }, { failed: false, value: VALUE })).toBe(false);
      expect(await ledger.settle(holdOf(heir, 1), { failed: false, value: VALUE })).toBe(false);
      expect(await other.settle(holdOf(heir, 2), { failed: false, value: new TextEncoder().encode("found") })).toBe(
        true,
      );
      expect(shown(await ledger.claim(claim))).toMatchObject({ status: "settled", settled: { value: "found" } });
    });

    test("an owner that was paused and missed by nobody goes on", async () => {
      const claim = claimOf({ leaseMs: 50 });
      await ledger.claim(claim);
      await sleep(80);
      expect(await ledger.renew(holdOf(claim), 10_000)).toBe(true);
      expect(await other.claim({ ...claim, owner: "two", takeOver: true })).toEqual({ status: "running" });
      expect(await ledger.settle(holdOf(claim), { failed: false, value: VALUE })).toBe(true);
    });

    test("what was never claimed is nobody's to write", async () => {
      const hold = holdOf(claimOf());
      expect(await ledger.renew(hold, 1_000)).toBe(false);
      expect(await ledger.settle(hold, { failed: false, value: VALUE })).toBe(false);
      expect(await ledger.release(hold)).toBe(false);
      expect(await ledger.doubt(hold)).toBe(false);
    });
  });

  test("a storm of owners that settle, give back, doubt and die: one outcome an effect, and everybody hears that one", async () => {
    const outcomes = new Map<string, Set<string>>();
    const heard = new Map<string, Set<string>>();
    const note = (where: Map<string, Set<string>>, row: string, value: string): void => {
      where.set(row, (where.get(row) ?? new Set()).add(value));
    };
    const caller = async (index: number, row: string): Promise<void> => {
      const mine = ledgers[index % CONNECTIONS] as Ledger;
      for (let tries = 0; tries < 200; tries += 1) {
        const owner = `storm-${index}-${tries}`;
        const amount = index % 2 === 0 ? "5" : "6";
        const claim = claimOf({ row, owner, answers: { amount }, leaseMs: 40, takeOver: true });
        const result = await mine.claim(claim);
        if (result.status === "settled") return note(heard, row, text(result.settled.value));
        if (result.status === "conflict" && result.settled[0] !== undefined) {
          return note(heard, row, text(result.settled[0].value));
        }
        if (result.status === "claimed") {
          const hold = holdOf(claim, result.epoch);
          const chance = Math.random();
          if (chance < 0.25) await mine.release(hold);
          else if (chance < 0.5) await mine.doubt(hold);
          else if (chance < 0.75) await sleep(60);
          // Also of those who gave it up, doubt it or slept too long: the store must know better.
          const value = `${amount} by ${owner}`;
          if (await mine.settle(hold, { failed: false, value: new TextEncoder().encode(value) })) {
            note(outcomes, row, value);
          }
        }
        await sleep(Math.random() * 20);
      }
      throw new Error(`${row} came to no end`);
    };
    const storm = Array.from({ length: 12 }, (_, row) => `storm-${rows}-${row}`);
    await Promise.all(storm.flatMap((row) => Array.from({ length: 8 }, (_, index) => caller(index, row))));
    for (const row of storm) {
      expect(outcomes.get(row)?.size).toBe(1);
      expect(heard.get(row)).toEqual(outcomes.get(row));
    }
  }, 60_000);

  describe("times", () => {
    test("an old fork that claims again and again until the deadline gets nothing, and is refused after it", async () => {
      const deadline = Date.now() + 600;
      const fork = claimOf({ deadline, answers: { amount: "5" }, leaseMs: 100 });
      await ledger.claim(fork);
      await ledger.settle(holdOf(fork), { failed: false, value: VALUE });
      const statuses: string[] = [];
      while (statuses.at(-1) !== "expired") {
        const old = { ...fork, owner: `old-${statuses.length}`, answers: { amount: "6" }, takeOver: true };
        statuses.push((await other.claim(old)).status);
        await sleep(20);
      }
      expect(Date.now()).toBeGreaterThan(deadline);
      expect(new Set(statuses)).toEqual(new Set(["conflict", "expired"]));
      expect(await ledger.claim(fork)).toEqual({ status: "expired" });
      expect(await ledger.claim({ ...fork, row: "new after the deadline" })).toEqual({ status: "expired" });
    });

    test("a row is kept until its time and gone after it, also where it still lies", async () => {
      const now = Date.now();
      const claim = claimOf({ deadline: now + 60_000, keepUntil: now + 700, leaseMs: 100, answers: { amount: "5" } });
      await ledger.claim(claim);
      await ledger.settle(holdOf(claim), { failed: false, value: VALUE });
      const later = { ...claim, owner: "two", answers: { amount: "6" } };
      expect(await other.claim(later)).toMatchObject({ status: "conflict" });
      await sleep(Math.max(0, now + 720 - Date.now()));
      expect(await other.claim({ ...later, keepUntil: 0 })).toEqual({ status: "claimed", epoch: 1 });
      expect(await other.settle(holdOf(later), { failed: false, value: new TextEncoder().encode("again") })).toBe(true);
    });

    test("a later claim keeps the row longer", async () => {
      const now = Date.now();
      const claim = claimOf({ keepUntil: now + 300, leaseMs: 100 });
      await ledger.claim(claim);
      await ledger.settle(holdOf(claim), { failed: false, value: VALUE });
      expect(await other.claim({ ...claim, keepUntil: now + 60_000 })).toMatchObject({ status: "settled" });
      await sleep(400);
      expect(await other.claim(claim)).toMatchObject({ status: "settled" });
    });

    test("the row of an effect that runs is kept as long as its lease, whatever its time", async () => {
      const claim = claimOf({ keepUntil: Date.now() + 50, leaseMs: 200 });
      await ledger.claim(claim);
      await sleep(100);
      expect(await ledger.renew(holdOf(claim), 10_000)).toBe(true);
      await sleep(200);
      expect(await other.claim({ ...claim, owner: "two" })).toEqual({ status: "running" });
    });

    test("no time is too late to keep a row", async () => {
      const claim = claimOf({ keepUntil: Number.MAX_VALUE });
      expect(await ledger.claim(claim)).toEqual({ status: "claimed", epoch: 1 });
      expect(await other.claim({ ...claim, owner: "two" })).toEqual({ status: "running" });
    });

    test("rows past their time are cleared away in passing", async () => {
      if (store.count === undefined) return;
      const before = await store.count();
      const claims = Array.from({ length: 50 }, () => claimOf({ keepUntil: 0, leaseMs: 1 }));
      for (const claim of claims) await ledger.claim(claim);
      // A row lasts as long as its lease, the youngest one a moment longer than the rest.
      await sleep(50);
      // A ledger clears on its first claim, then once a minute.
      const fresh = await store.open();
      await fresh.claim(claimOf());
      await expect.poll(store.count, { timeout: 5_000 }).toBeLessThanOrEqual(before + 1);
      await fresh.close?.();
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
  });

  describe("values and names", () => {
    test("a value of 1 MiB comes back byte for byte", async () => {
      const value = randomBytes(1024 * 1024);
      const claim = claimOf({ answers: { amount: "5" } });
      await ledger.claim(claim);
      expect(await ledger.settle(holdOf(claim), { failed: false, value })).toBe(true);
      const settled = await other.claim(claim);
      const conflict = await other.claim({ ...claim, answers: { amount: "6" } });
      if (settled.status !== "settled" || conflict.status !== "conflict") throw new Error(settled.status);
      expect(value.equals(settled.settled.value)).toBe(true);
      expect(value.equals(conflict.settled[0]?.value ?? VALUE)).toBe(true);
    });

    test("case 23: any text is a row, a name, an owner or a key of its own", async () => {
      const texts = ["__proto__", "constructor", "", " ", "a\u0000b", "a'b\"c\\d{e}f", "é🚀", "1", "x".repeat(2_000)];
      for (const strange of texts) {
        const answers: Record<string, string> = Object.create(null);
        answers[strange] = "5";
        // Postgres has no text with U+0000: rows and owners are ours and never hold it.
        const row = `strange ${strange.replaceAll("\u0000", "")}`;
        const claim = claimOf({ row, name: strange, owner: row, answers });
        expect(await ledger.claim(claim)).toEqual({ status: "claimed", epoch: 1 });
        expect(await ledger.settle(holdOf(claim), { failed: false, value: VALUE })).toBe(true);
        const changed: Record<string, string> = Object.create(null);
        changed[strange] = "6";
        expect(shown(await other.claim({ ...claim, answers: changed }))).toEqual({
          status: "conflict",
          settled: [{ name: strange, failed: false, value: "paid" }],
        });
        expect(await other.claim({ ...claim, name: `${strange}.`, answers: {} })).toMatchObject({ status: "claimed" });
      }
      const claim = claimOf({ row: "__proto__" });
      expect(await ledger.claim(claim)).toEqual({ status: "claimed", epoch: 1 });
      expect(await other.claim({ ...claim, owner: "two" })).toEqual({ status: "running" });
    });
  });

  describe("the store and its users", () => {
    test("while the store is gone calls reject; when it is back, nothing is lost and nothing half done", async () => {
      if (store.outage === undefined) return;
      const impatient = await store.open({ timeoutMs: 1_000 });
      const begun = claimOf({ answers: { amount: "5" } });
      const refused = claimOf();
      await impatient.claim(begun);
      await store.outage.begin();
      try {
        const outcomes = await Promise.allSettled([
          impatient.claim(refused),
          impatient.renew(holdOf(begun), 10_000),
          impatient.settle(holdOf(begun), { failed: false, value: VALUE }),
        ]);
        expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
      } finally {
        await store.outage.end();
      }
      // A write that nobody could see through may have happened, or not: then it is done again.
      if (!(await ledger.settle(holdOf(begun), { failed: false, value: VALUE }))) {
        expect(shown(await ledger.claim(begun))).toMatchObject({ status: "settled", settled: { value: "paid" } });
      }
      expect(shown(await ledger.claim({ ...begun, answers: { amount: "6" } }))).toMatchObject({ status: "conflict" });
      // But a claim that was refused leaves nothing: its effect never began. And the same connection works again.
      const again = (): Promise<unknown> => impatient.claim({ ...refused, owner: "two" }).catch(String);
      await expect.poll(again, { timeout: 10_000 }).toEqual({ status: "claimed", epoch: 1 });
      await impatient.close?.();
    }, 40_000);

    test("a short outage is waited for", async () => {
      if (store.outage === undefined) return;
      const claim = claimOf();
      await ledger.claim(claim);
      await store.outage.begin();
      const settled = ledger.settle(holdOf(claim), { failed: false, value: VALUE });
      const claimed = other.claim(claimOf());
      await sleep(100);
      await store.outage.end();
      expect(await settled).toBe(true);
      expect(await claimed).toEqual({ status: "claimed", epoch: 1 });
    }, 30_000);

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
  });
}
