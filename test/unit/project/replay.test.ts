import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createShop, type Outside } from "../../../examples/replay/shop.ts";
import type { Client } from "../../../src/client.ts";
import type { ServerOptions } from "../../../src/index.ts";
import { createMemoryLedger } from "../../../src/ledger/memory.ts";
import { checkDeterminism, createFakeClock, createPair } from "../../../src/testing.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const MINUTE = 60_000;

interface Seen {
  readonly outside: Outside;
  /** What was called outside of the handlers, in order. */
  readonly calls: string[];
  /** How long suppliers take, in milliseconds, and whether there is something to reserve. */
  readonly mood: { north: number; south: number; soldOut: boolean };
}

function watched(): Seen {
  const calls: string[] = [];
  const mood = { north: 0, south: 0, soldOut: false };
  const see = (call: string): number => calls.push(call);
  const outside: Outside = {
    stock: async (item) => {
      see(`stock ${item}`);
      return 7;
    },
    price: async (item, size) => {
      see(`price ${item} ${size}`);
      return 1_250;
    },
    order: async (item, size) => see(`order ${item} ${size}`),
    pay: async (cents) => see(`pay ${cents}`),
    quote: async (supplier, item) => {
      see(`quote ${supplier} ${item}`);
      await sleep(mood[supplier as "north" | "south"]);
      return 500;
    },
    reserve: async (item) => {
      see(`reserve ${item}`);
      if (mood.soldOut) throw Object.assign(new RangeError(`No ${item} is left.`), { code: "SOLD_OUT", shelf: 7 });
      return `reserved ${item}`;
    },
    list: async (item) => void see(`list ${item}`),
    connect: async () => {
      see("connect");
      return { count: async (item) => see(`count ${item}`), close: async () => void see("close") };
    },
  };
  return { outside, calls, mood };
}

const accept = (content: Record<string, string | boolean>) => ({ action: "accept", content }) as const;
const yes = accept({ confirm: true });

/** Plays a tool by hand: what each reply asks, then what the result says. */
async function play(
  client: Client,
  tool: string,
  args: Record<string, unknown>,
  answers: Readonly<Record<string, ReturnType<typeof accept>>>,
  between: () => void | Promise<void> = () => undefined,
): Promise<readonly (readonly string[] | string)[]> {
  const said: (readonly string[] | string)[] = [];
  let step = await client.start("tools/call", { name: tool, arguments: args });
  while (!step.done) {
    const keys = Object.keys(step.requests);
    said.push(keys);
    await between();
    for (const key of keys) step.answer(key, answers[key] ?? yes);
    step = await step.continue();
  }
  const result = step.result;
  const [block] = result?.content ?? [];
  return [...said, block?.type === "text" ? block.text : ""];
}

const shopClient = async (seen: Seen, options: Partial<ServerOptions> = {}): Promise<Client> =>
  await createPair(createShop(seen.outside, { ledger: createMemoryLedger(), ...options }), {
    form: () => ({ action: "cancel" }),
  });

test("the guide to replay shows what its example does", () => {
  const guide = readFileSync(`${root}docs/replay.md`, "utf8");
  const code = readFileSync(`${root}examples/replay/shop.ts`, "utf8").replace(/\s+/g, " ");
  const blocks = [...guide.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block]) => (block ?? "").trim());
  expect(blocks).toHaveLength(6);
  for (const block of blocks) expect(code).toContain(block.replace(/\s+/g, " "));
});

test("X1: the flow of the picture: three rounds, and each call outside once", async () => {
  const seen = watched();
  await using client = await shopClient(seen);
  const said = await play(client, "order", { item: "tea" }, { size: accept({ size: "M" }) });
  expect(said).toEqual([["size"], ["sure"], "Order 3."]);
  expect(seen.calls).toEqual(["stock tea", "price tea M", "order tea M"]);
});

test("X1: nothing of that flow differs in a replay", async () => {
  const { outside } = watched();
  const findings = await checkDeterminism(createShop(outside, { ledger: createMemoryLedger() }), {
    tool: "order",
    arguments: { item: "tea" },
    answer: (requests) => ("size" in requests ? { size: accept({ size: "M" }) } : { sure: yes }),
  });
  expect(findings).toEqual([]);
});

test("X2: questions in a loop have names of their own and go out together", async () => {
  const seen = watched();
  await using client = await shopClient(seen);
  const answers = { "size:tea": accept({ size: "S" }), "size:milk": accept({ size: "L" }) };
  const said = await play(client, "sizes", { items: ["tea", "milk"] }, answers);
  expect(said).toEqual([["size:tea", "size:milk"], "S, L"]);
});

test.each([
  [4, "Paid: receipt 1.", ["pay 700"]],
  [5, "Nobody approved within five minutes: nothing was paid.", []],
])("a question beside a limit, answered after %d minutes", async (minutes, end, calls) => {
  const seen = watched();
  const clock = createFakeClock();
  await using client = await shopClient(seen, { clock, ledger: createMemoryLedger({ now: () => clock.now() }) });
  const args = { order: "A1", cents: 700 };
  const said = await play(client, "pay", args, {}, () => clock.advance(minutes * MINUTE));
  expect(said).toEqual([["approve"], end]);
  expect(seen.calls).toEqual(calls);
});

test("X1: who was first is first in each round, and who was not does nothing more", async () => {
  const seen = watched();
  await using client = await shopClient(seen);
  seen.mood.north = 20;
  const said = await play(client, "quote", { item: "tea" }, {}, () => {
    Object.assign(seen.mood, { north: 0, south: 20 });
  });
  expect(said).toEqual([["take"], "Bought in the south."]);
  expect(seen.calls).toEqual(["quote north tea", "quote south tea"]);
});

test("X1: a step that failed stays failed once an answer rests on it", async () => {
  const seen = watched();
  await using client = await shopClient(seen);
  seen.mood.soldOut = true;
  const said = await play(client, "reserve", { item: "tea" }, {}, () => {
    seen.mood.soldOut = false;
  });
  expect(said).toEqual([["wait"], "You are on the waiting list."]);
  expect(seen.calls).toEqual(["reserve tea", "list tea"]);
  expect(await play(client, "reserve", { item: "tea" }, {})).toEqual(["reserved tea"]);
});

test("what a round opens with ctx.use it gives back, whatever ends it", async () => {
  const seen = watched();
  await using client = await shopClient(seen);
  const said = await play(client, "count", { items: ["tea", "milk"] }, {});
  expect(said).toEqual([["right:tea"], ["right:milk"], "2 tea, 5 milk"]);
  expect(seen.calls).toEqual(["connect", "count tea", "close", "connect", "count milk", "close", "connect", "close"]);
});
