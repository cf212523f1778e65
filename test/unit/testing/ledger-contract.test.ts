import { AssertionError } from "node:assert";
import { expect, test } from "vitest";
import type { Ledger } from "../../../src/index.ts";
import { createMemoryLedger } from "../../../src/ledger/memory.ts";
import { type LedgerStore, ledgerContract } from "../../../src/testing.ts";

const quick = ledgerContract.filter(({ needs }) => needs === undefined);

/** The names of the checks that a ledger fails. */
async function failed(wrap: (ledger: Ledger) => Ledger): Promise<string[]> {
  const ledger = wrap(createMemoryLedger());
  const store: LedgerStore = { open: () => ledger };
  const failures = await Promise.all(
    quick.map((check) =>
      check.run(store).then(
        () => [],
        (error: unknown) => {
          expect(error).toBeInstanceOf(AssertionError);
          return [check.name];
        },
      ),
    ),
  );
  return failures.flat();
}

test("rule 14: a sound ledger passes, without any test runner", async () => {
  expect(await failed((ledger) => ledger)).toEqual([]);
  expect(new Set(ledgerContract.map(({ name }) => name)).size).toBe(ledgerContract.length);
});

test("rule 14: a ledger that does not compare answers is found out", async () => {
  const forgetful = (ledger: Ledger): Ledger => ({
    ...ledger,
    claim: (claim) => ledger.claim({ ...claim, answers: {} }),
  });
  expect(await failed(forgetful)).toContain(
    "two forks of a flow with different answers: one effect, and the other hears what was done",
  );
});

test("rule 14: a ledger that renews nothing and says yes is found out", async () => {
  const trusting = (ledger: Ledger): Ledger => ({ ...ledger, renew: async () => true });
  expect(await failed(trusting)).toEqual([
    "what was never claimed is nobody's to write",
    "an owner that was paused finds its claim lost to whoever recovered meanwhile",
    "an owner that was paused and missed by nobody goes on",
    "the row of an effect that runs is kept as long as its lease, whatever its time",
  ]);
});

test("a check that needs more of the store says so", async () => {
  const store: LedgerStore = { open: () => createMemoryLedger() };
  const demanding = ledgerContract.filter(({ needs }) => needs !== undefined);
  expect(demanding.map(({ needs }) => needs)).toEqual(["count", "outage", "outage"]);
  for (const { needs, run } of demanding) {
    await expect(run(store)).rejects.toMatchObject({
      code: "invalid_options",
      message: `This check needs \`${needs}\` of the store: leave it out, by its \`needs\`.`,
    });
  }
});
