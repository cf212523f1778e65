import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Bank, Refused, Unreachable } from "../../../examples/exactly-once/bank.ts";
import { createShop } from "../../../examples/exactly-once/shop.ts";
import { createServer, NotDone } from "../../../src/index.ts";
import { createMemoryLedger } from "../../../src/ledger/memory.ts";
import { createPair } from "../../../src/testing.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A bank that does as it is told, and counts. */
function fakeBank(): Bank & { readonly charged: string[]; mood: Error | undefined } {
  const charged: string[] = [];
  return {
    charged,
    mood: undefined,
    async charge(cents, key) {
      const { mood } = this;
      if (mood instanceof Unreachable || mood instanceof Refused) throw mood;
      charged.push(`${cents} ${key}`);
      if (mood !== undefined) throw mood;
      return charged.length;
    },
    async find(key) {
      const index = charged.findIndex((entry) => entry.endsWith(key));
      return index < 0 ? undefined : index + 1;
    },
  };
}

const text = (result: { readonly content: readonly unknown[] }): string => JSON.stringify(result.content);

test("the guide shows what its example does", () => {
  const guide = readFileSync(`${root}docs/exactly-once.md`, "utf8");
  const code = (path: string): string =>
    readFileSync(`${root}examples/exactly-once/${path}`, "utf8").replace(/\s+/g, " ");
  const blocks = [...guide.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block]) => (block ?? "").trim());
  const shown = blocks.filter((block) => !block.startsWith("import"));
  expect(shown).toHaveLength(5);
  for (const block of shown) expect(code("shop.ts")).toContain(block.replace(/\s+/g, " "));
});

test("X5: a charge with a key is made once for every request that names it", async () => {
  const bank = fakeBank();
  const form = () => ({ action: "accept", content: { confirm: true } }) as const;
  const client = await createPair(createShop(bank, createMemoryLedger()), { form });
  for (let time = 0; time < 3; time += 1) {
    expect(text(await client.callTool("charge", { order: "A1", cents: 500 }))).toContain("receipt 1");
  }
  expect(text(await client.callTool("charge", { order: "A2", cents: 500 }))).toContain("receipt 2");
  expect(bank.charged).toHaveLength(2);
});

test("X5: what the bank says decides whether a charge is tried again, failed for good, or looked for", async () => {
  const bank = fakeBank();
  const client = await createPair(createShop(bank, createMemoryLedger()));
  const charge = async (order: string): Promise<string> =>
    text(await client.callTool("charge_carefully", { order, cents: 500 }));

  bank.mood = new Unreachable();
  expect(await charge("A1")).toContain("Nothing was charged");
  bank.mood = undefined;
  expect(await charge("A1")).toContain("receipt 1");

  bank.mood = new Refused("closed account");
  expect(await charge("A2")).toContain("closed account");
  bank.mood = undefined;
  expect(await charge("A2")).toContain("closed account");

  // The charge went through, but its answer was lost.
  bank.mood = new Error("socket hang up");
  expect(await charge("A3")).toContain("not known");
  bank.mood = undefined;
  expect(await charge("A3")).toContain("receipt 2");
  expect(bank.charged).toHaveLength(2);
});

test("X5: what was not done is tried again in its flow under another name, and stays not done under its own", async () => {
  const server = createServer({ name: "shop", version: "1.0.0", singleInstance: true });
  let tries = 0;
  server.tool("charge", {}, async (_args, ctx) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ctx.once(`charge:${attempt}`, { key: "A1", keepFor: 60_000 }, () => {
          tries += 1;
          if (tries === 1) throw new NotDone("The bank cannot be reached.");
          return `Charged at try ${tries}.`;
        });
      } catch (error) {
        if (!(error instanceof NotDone)) throw error;
        if (!(await ctx.confirm(`again:${attempt}`, `${error.message} Again?`))) return "Nothing was charged.";
      }
    }
  });
  const client = await createPair(server, { form: () => ({ action: "accept", content: { confirm: true } }) });
  expect(text(await client.callTool("charge", {}))).toContain("Charged at try 2.");
  expect(tries).toBe(2);
});

test("X5: a donation may be corrected until it is made", async () => {
  const bank = fakeBank();
  const client = await createPair(createShop(bank, createMemoryLedger()), { form: () => ({ action: "cancel" }) });
  const asked = await client.start("tools/call", { name: "donate", arguments: {} });
  if (asked.done) throw new Error("nothing was asked");
  const give = async (cents: number): Promise<string> => {
    // The same state again, as a client may present it.
    asked.answer("amount", { action: "accept", content: { cents } });
    return JSON.stringify(await asked.continue());
  };
  expect(await give(100)).toContain("Thank you for 100 cents: receipt 1.");
  expect(await give(200)).toContain("You have given before, with another answer: receipt 1.");
  expect(bank.charged).toHaveLength(1);
});
