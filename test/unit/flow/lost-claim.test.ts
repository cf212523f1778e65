// What a worker says of an effect whose claim another one has taken over.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Failed, NotDone } from "../../../src/flow/index.ts";
import { harness } from "./harness.ts";

test.each([
  ["Failed", new Failed("card refused")],
  ["NotDone", new NotDone("card refused")],
  ["any other error", new Error("socket hang up")],
])("attack 17: %s of an effect that lost its claim does not count, its new owner's word does", async (_name, error) => {
  let fail: () => void = () => {};
  const flow = harness(
    (_args, ctx) =>
      ctx.once("pay", { recover: () => "DONE (found)" }, async () => {
        await new Promise<void>((resolve) => {
          fail = resolve;
        });
        throw error;
      }),
    {},
    (ledger) => ({ ...ledger, renew: async () => false }),
  );
  const one = await flow.asks();
  const first = flow.ends({ state: one.requestState });
  await sleep(5);
  const second = flow.ends({ state: one.requestState });
  await flow.clock.advance(15_400);
  expect(await second).toBe("DONE (found)");
  fail();
  expect(await first).toBe("DONE (found)");
  expect(await flow.ends({ state: one.requestState })).toBe("DONE (found)");
  const said = flow.events.flatMap((event) => (event.type === "effect" ? [event.outcome] : []));
  expect(said.filter((outcome) => outcome === "lost")).toEqual(["lost"]);
  expect(said).not.toContain("failed");
});

test("X5: what was begun is not begun again when the record has forgotten its claim", async () => {
  let begun = 0;
  const flow = harness(
    (_args, ctx) => ctx.once("pay", () => `paid ${++begun}`),
    {},
    (ledger) => ({
      ...ledger,
      // As after a fail-over that lost the last writes.
      async settle(hold) {
        await ledger.release(hold);
        return false;
      },
    }),
  );
  const one = await flow.asks();
  await expect(flow.play({ state: one.requestState })).rejects.toMatchObject({ code: "effect_in_doubt" });
  expect(begun).toBe(1);
});
