// Times, values, names and outages: the part of the ledger contract about the store.
import { deepStrictEqual, equal, fail, ok } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { LedgerCheck } from "./ledger-contract.ts";
import {
  bytes,
  CLAIMED,
  check,
  checkWith,
  claimOf,
  eventually,
  expectClaim,
  holdOf,
  RUNNING,
  rowOf,
  shown,
  VALUE,
} from "./ledger-probe.ts";

export const timeChecks: readonly LedgerCheck[] = [
  check(
    "an old fork that claims again and again until the deadline gets nothing, and is refused after it",
    async (probe) => {
      const { ledger, other } = probe;
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
      ok(Date.now() > deadline, "not before the deadline");
      deepStrictEqual(new Set(statuses), new Set(["conflict", "expired"]));
      await expectClaim(ledger, fork, { status: "expired" });
      await expectClaim(ledger, { ...fork, row: rowOf("new after the deadline") }, { status: "expired" });
    },
  ),

  check("a row is kept until its time and gone after it, also where it still lies", async ({ ledger, other }) => {
    const now = Date.now();
    const claim = claimOf({ deadline: now + 60_000, keepUntil: now + 1_000, leaseMs: 100, answers: { amount: "5" } });
    await ledger.claim(claim);
    await ledger.settle(holdOf(claim), { failed: false, value: VALUE });
    const later = { ...claim, owner: "two", answers: { amount: "6" } };
    equal((await other.claim(later)).status, "conflict");
    await sleep(Math.max(0, now + 1_020 - Date.now()));
    await expectClaim(other, { ...later, keepUntil: 0 }, CLAIMED);
    equal(await other.settle(holdOf(later), { failed: false, value: bytes("again") }), true);
  }),

  check("a later claim keeps the row longer", async ({ ledger, other }) => {
    const now = Date.now();
    const claim = claimOf({ keepUntil: now + 1_000, leaseMs: 100 });
    await ledger.claim(claim);
    await ledger.settle(holdOf(claim), { failed: false, value: VALUE });
    equal((await other.claim({ ...claim, keepUntil: now + 60_000 })).status, "settled");
    await sleep(Math.max(0, now + 1_100 - Date.now()));
    equal((await other.claim(claim)).status, "settled");
  }),

  check("the row of an effect that runs is kept as long as its lease, whatever its time", async ({ ledger, other }) => {
    const claim = claimOf({ keepUntil: Date.now() + 50, leaseMs: 500 });
    await ledger.claim(claim);
    await sleep(100);
    equal(await ledger.renew(holdOf(claim), 10_000), true);
    await sleep(500);
    await expectClaim(other, { ...claim, owner: "two" }, RUNNING);
  }),

  check("no time is too late to keep a row", async ({ ledger, other }) => {
    const claim = claimOf({ keepUntil: Number.MAX_VALUE });
    await expectClaim(ledger, claim, CLAIMED);
    await expectClaim(other, { ...claim, owner: "two" }, RUNNING);
  }),

  checkWith("count", "rows past their time are cleared away in passing", async ({ ledger, store }, count) => {
    const before = await count();
    const claims = Array.from({ length: 50 }, () => claimOf({ keepUntil: 0, leaseMs: 1 }));
    for (const claim of claims) await ledger.claim(claim);
    // A row lasts as long as its lease, the youngest one a moment longer than the rest.
    await sleep(50);
    // A ledger may clear on its first claim and seldom after.
    const fresh = await store.open();
    await fresh.claim(claimOf());
    await eventually(count, (rows) => rows <= before + 1, 5_000);
    await fresh.close?.();
  }),
];

export const valueChecks: readonly LedgerCheck[] = [
  check("a value of 1 MiB comes back byte for byte", async ({ ledger, other }) => {
    const value = randomBytes(1024 * 1024);
    const claim = claimOf({ answers: { amount: "5" } });
    await ledger.claim(claim);
    equal(await ledger.settle(holdOf(claim), { failed: false, value }), true);
    const settled = await other.claim(claim);
    const conflict = await other.claim({ ...claim, answers: { amount: "6" } });
    if (settled.status !== "settled" || conflict.status !== "conflict") {
      return fail(`It was settled, and told as ${settled.status} and ${conflict.status}.`);
    }
    ok(value.equals(settled.settled.value), "as it was settled");
    ok(value.equals(conflict.settled[0]?.value ?? VALUE), "as it is told in a conflict");
  }),

  check("any text is a row, a name, an owner or a key of its own", async ({ ledger, other }) => {
    const texts = ["__proto__", "constructor", "", " ", "a\u0000b", "a'b\"c\\d{e}f", "é🚀", "1", "x".repeat(2_000)];
    for (const strange of texts) {
      const answers: Record<string, string> = Object.create(null);
      answers[strange] = "5";
      // Not every store has text with U+0000: rows and owners are ours and never hold it.
      const row = `${rowOf("strange")} ${strange.replaceAll("\u0000", "")}`;
      const claim = claimOf({ row, name: strange, owner: row, answers });
      await expectClaim(ledger, claim, CLAIMED);
      equal(await ledger.settle(holdOf(claim), { failed: false, value: VALUE }), true);
      const changed: Record<string, string> = Object.create(null);
      changed[strange] = "6";
      const settled = [{ name: strange, failed: false, value: "paid" }];
      await expectClaim(other, { ...claim, answers: changed }, { status: "conflict", settled });
      await expectClaim(other, { ...claim, name: `${strange}.`, answers: {} }, CLAIMED);
    }
  }),
];

export const outageChecks: readonly LedgerCheck[] = [
  checkWith(
    "outage",
    "while the store is gone calls reject; when it is back, nothing is lost and nothing half done",
    async ({ ledger, store }, outage) => {
      const impatient = await store.open({ timeoutMs: 1_000 });
      const begun = claimOf({ answers: { amount: "5" } });
      const refused = claimOf();
      await impatient.claim(begun);
      await outage.begin();
      try {
        const outcomes = await Promise.allSettled([
          impatient.claim(refused),
          impatient.renew(holdOf(begun), 10_000),
          impatient.settle(holdOf(begun), { failed: false, value: VALUE }),
        ]);
        deepStrictEqual(
          outcomes.map(({ status }) => status),
          ["rejected", "rejected", "rejected"],
        );
      } finally {
        await outage.end();
      }
      // A write that nobody could see through may have happened, or not: then it is done again.
      if (!(await ledger.settle(holdOf(begun), { failed: false, value: VALUE }))) {
        const paid = { name: "pay", failed: false, value: "paid" };
        await expectClaim(ledger, begun, { status: "settled", settled: paid });
      }
      equal((await ledger.claim({ ...begun, answers: { amount: "6" } })).status, "conflict");
      // But a claim that was refused leaves nothing: its effect never began. And the same connection works again.
      const again = (): Promise<unknown> => impatient.claim({ ...refused, owner: "two" }).then(shown, String);
      await eventually(again, (result) => isDeepStrictEqual(result, CLAIMED), 10_000);
      await impatient.close?.();
    },
  ),

  checkWith("outage", "a short outage is waited for", async ({ ledger, other }, outage) => {
    const claim = claimOf();
    await ledger.claim(claim);
    await outage.begin();
    const settled = ledger.settle(holdOf(claim), { failed: false, value: VALUE });
    const claimed = other.claim(claimOf());
    await sleep(100);
    await outage.end();
    equal(await settled, true);
    deepStrictEqual(shown(await claimed), CLAIMED);
  }),
];
