// Who gets a claim, which answers it commits, and what becomes of owners: the part of the ledger contract about callers.
import { deepStrictEqual, equal, fail } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "../ledger/index.ts";
import type { LedgerCheck } from "./ledger-contract.ts";
import {
  bytes,
  CLAIMED,
  check,
  claimOf,
  eventually,
  expectClaim,
  holdOf,
  RUNNING,
  rowOf,
  shown,
  text,
  VALUE,
} from "./ledger-probe.ts";

const CONNECTIONS = 4;
const CALLERS = 16;
const IDS = 100;

/** Many callers race for each of many rows; who won, and what the losers heard. */
export async function race(ledgers: readonly Ledger[], callers: number, ids: number): Promise<void> {
  const row = rowOf("race");
  const wins: string[] = [];
  const statuses = new Set<string>();
  const caller = async (index: number): Promise<void> => {
    const mine = ledgers[index % ledgers.length] as Ledger;
    for (let id = 0; id < ids; id += 1) {
      const claim = claimOf({ row: `${row}-${id}`, owner: `caller-${index}`, leaseMs: 300_000 });
      const { status } = await mine.claim(claim);
      statuses.add(status);
      if (status === "claimed") wins.push(claim.row);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)));
  deepStrictEqual([wins.length, new Set(wins).size], [ids, ids], "one winner a row");
  deepStrictEqual([...statuses].sort(), ["claimed", "running"]);
}

export const claimChecks: readonly LedgerCheck[] = [
  check(
    `${CALLERS} callers race for each of ${IDS} rows: ${IDS} winners`,
    ({ all }) => race(all, CALLERS, IDS),
    CONNECTIONS,
  ),

  check(
    "callers who race to take over what is in doubt: one an effect",
    async ({ ledger, all }) => {
      const claims = Array.from({ length: 40 }, () => claimOf());
      for (const claim of claims) {
        await ledger.claim(claim);
        await ledger.doubt(holdOf(claim));
      }
      const tries = claims.flatMap((claim) =>
        Array.from({ length: 16 }, (_, index) =>
          (all[index % all.length] as Ledger).claim({ ...claim, owner: `heir-${index}`, takeOver: true }),
        ),
      );
      const results = (await Promise.all(tries)).map(shown);
      const won = results.filter((result) => (result as { status: string }).status === "claimed");
      deepStrictEqual(won, Array(40).fill({ status: "claimed", epoch: 2 }));
      equal(results.filter((result) => (result as { status: string }).status === "running").length, 40 * 15);
    },
    CONNECTIONS,
  ),

  check("a claim that is tried again by its owner finds itself", async ({ ledger, other }) => {
    const claim = claimOf();
    await expectClaim(ledger, claim, CLAIMED);
    await expectClaim(other, claim, CLAIMED);
    await expectClaim(other, { ...claim, owner: "two" }, RUNNING);
    await expectClaim(other, { ...claim, owner: "two", takeOver: true }, RUNNING);
  }),

  check("a settled effect tells the same to everybody, whether it went well or not", async ({ ledger, other }) => {
    for (const failed of [false, true]) {
      const claim = claimOf({ answers: { amount: "5" } });
      await ledger.claim(claim);
      equal(await ledger.settle(holdOf(claim), { failed, value: VALUE }), true);
      const settled = { status: "settled", settled: { name: "pay", failed, value: "paid" } };
      for (const owner of ["one", "two"]) await expectClaim(other, { ...claim, owner }, settled);
      equal(await ledger.settle(holdOf(claim), { failed: false, value: VALUE }), false);
    }
  }),

  check("a released effect is as if it had never been", async ({ ledger, other }) => {
    const claim = claimOf({ answers: { amount: "5" } });
    await ledger.claim(claim);
    equal(await ledger.release(holdOf(claim)), true);
    equal(await ledger.release(holdOf(claim)), false);
    await expectClaim(other, { ...claim, owner: "two", answers: { amount: "6" } }, CLAIMED);
  }),

  check("what was never claimed is nobody's to write", async ({ ledger }) => {
    const hold = holdOf(claimOf());
    equal(await ledger.renew(hold, 1_000), false);
    equal(await ledger.settle(hold, { failed: false, value: VALUE }), false);
    equal(await ledger.release(hold), false);
    equal(await ledger.doubt(hold), false);
  }),
];

export const answerChecks: readonly LedgerCheck[] = [
  check("two forks of a flow with different answers: one effect, and the other hears what was done", async (probe) => {
    const { ledger, other } = probe;
    const fork = claimOf({ answers: { amount: "5", sure: "yes" } });
    const corrected = { ...fork, owner: "two", answers: { amount: "6", sure: "yes" } };
    await expectClaim(ledger, fork, CLAIMED);
    await expectClaim(other, corrected, RUNNING);
    equal(await ledger.settle(holdOf(fork), { failed: false, value: VALUE }), true);
    const paid = { name: "pay", failed: false, value: "paid" };
    const conflict = { status: "conflict", settled: [paid] };
    await expectClaim(other, corrected, conflict);
    await expectClaim(other, { ...corrected, name: "ship" }, conflict);
    await expectClaim(other, { ...corrected, takeOver: true }, conflict);
    await expectClaim(other, { ...fork, owner: "two" }, { status: "settled", settled: paid });
  }),

  check("answers that nothing rests on may change, and more may come", async ({ ledger, other }) => {
    const claim = claimOf({ answers: { amount: "5" } });
    await ledger.claim(claim);
    await ledger.settle(holdOf(claim), { failed: false, value: VALUE });
    const more = { ...claim, name: "ship", answers: { amount: "5", address: "home" } };
    await expectClaim(other, more, CLAIMED);
    const elsewhere = { ...claim, name: "mail", owner: "two", answers: { amount: "5", address: "work" } };
    await expectClaim(other, elsewhere, RUNNING);
    await ledger.release(holdOf(more));
    await expectClaim(other, elsewhere, CLAIMED);
  }),

  check("an effect in doubt commits its answers too", async ({ ledger, other }) => {
    const claim = claimOf({ answers: { amount: "5" } });
    await ledger.claim(claim);
    equal(await ledger.doubt(holdOf(claim)), true);
    const corrected = { ...claim, owner: "two", answers: { amount: "6" }, takeOver: true };
    await expectClaim(other, corrected, { status: "conflict", settled: [] });
    await expectClaim(other, { ...claim, owner: "two" }, { status: "in_doubt" });
  }),

  check("a conflict names every settled effect of the row in order", async ({ ledger, other }) => {
    const claim = claimOf({ answers: { amount: "5" } });
    for (const name of ["reserve", "pay", "ship"]) {
      await ledger.claim({ ...claim, name });
      await ledger.settle(holdOf({ ...claim, name }), { failed: name === "ship", value: VALUE });
    }
    await ledger.claim({ ...claim, name: "mail" });
    await expectClaim(
      other,
      { ...claim, answers: { amount: "6" } },
      {
        status: "conflict",
        settled: [
          { name: "reserve", failed: false, value: "paid" },
          { name: "pay", failed: false, value: "paid" },
          { name: "ship", failed: true, value: "paid" },
        ],
      },
    );
  }),
];

export const ownerChecks: readonly LedgerCheck[] = [
  check("a claim whose owner is silent is in doubt when its lease is over, and can be taken over", async (probe) => {
    const { ledger, other } = probe;
    const claim = claimOf({ leaseMs: 300, answers: { amount: "5" } });
    await ledger.claim(claim);
    const heir = { ...claim, owner: "two" };
    await expectClaim(other, heir, RUNNING);
    await eventually(
      () => other.claim(heir),
      ({ status }) => status !== "running",
      10_000,
    );
    await expectClaim(other, heir, { status: "in_doubt" });
    await expectClaim(other, { ...heir, takeOver: true, leaseMs: 10_000 }, { status: "claimed", epoch: 2 });
    equal(await other.settle(holdOf(heir, 2), { failed: false, value: VALUE }), true);
  }),

  check("an owner that was paused finds its claim lost to whoever recovered meanwhile", async ({ ledger, other }) => {
    const claim = claimOf({ leaseMs: 50 });
    await ledger.claim(claim);
    await sleep(80);
    const heir = { ...claim, owner: "two", takeOver: true, leaseMs: 10_000 };
    await expectClaim(other, heir, { status: "claimed", epoch: 2 });
    const paused = holdOf(claim);
    equal(await ledger.renew(paused, 10_000), false);
    equal(await ledger.settle(paused, { failed: false, value: VALUE }), false);
    equal(await ledger.release(paused), false);
    equal(await ledger.doubt(paused), false);
    // Nor with the epoch that it could guess, nor by its own hand with the old one.
    equal(await ledger.settle({ ...paused, epoch: 2 }, { failed: false, value: VALUE }), false);
    equal(await ledger.settle(holdOf(heir, 1), { failed: false, value: VALUE }), false);
    equal(await other.settle(holdOf(heir, 2), { failed: false, value: bytes("found") }), true);
    await expectClaim(ledger, claim, { status: "settled", settled: { name: "pay", failed: false, value: "found" } });
  }),

  check("an owner that was paused and missed by nobody goes on", async ({ ledger, other }) => {
    const claim = claimOf({ leaseMs: 50 });
    await ledger.claim(claim);
    await sleep(80);
    equal(await ledger.renew(holdOf(claim), 10_000), true);
    await expectClaim(other, { ...claim, owner: "two", takeOver: true }, RUNNING);
    equal(await ledger.settle(holdOf(claim), { failed: false, value: VALUE }), true);
  }),

  check(
    "a storm of owners that settle, give back, doubt and die: one outcome an effect, and everybody hears that one",
    async ({ all }) => {
      const outcomes = new Map<string, Set<string>>();
      const heard = new Map<string, Set<string>>();
      const note = (where: Map<string, Set<string>>, row: string, value: string): void => {
        where.set(row, (where.get(row) ?? new Set()).add(value));
      };
      const caller = async (index: number, row: string): Promise<void> => {
        const mine = all[index % all.length] as Ledger;
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
            if (await mine.settle(hold, { failed: false, value: bytes(value) })) note(outcomes, row, value);
          }
          await sleep(Math.random() * 20);
        }
        fail(`${row} came to no end`);
      };
      const storm = Array.from({ length: 12 }, () => rowOf("storm"));
      await Promise.all(storm.flatMap((row) => Array.from({ length: 8 }, (_, index) => caller(index, row))));
      for (const row of storm) {
        equal(outcomes.get(row)?.size, 1, `${row} was settled once`);
        deepStrictEqual(heard.get(row), outcomes.get(row));
      }
    },
    CONNECTIONS,
  ),
];
