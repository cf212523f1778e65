// The built package, as its users import it, on every runtime that it promises to run on: real processes, one key.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type PendingRound } from "../../src/client.ts";
import { generateKey } from "../../src/state.ts";
import { officialPeer } from "../interop/official-peer.ts";
import { hasRuntime, RUNTIMES, type Runtime, type Shop, startShop } from "./start.ts";

const present = RUNTIMES.filter(hasRuntime);
const pairs = present.flatMap((here) => present.map((there) => [here, there] as const));
/** Every runtime takes each place of a flow once. */
const ways = present.map((_, first) => [0, 1, 2].map((round) => present[(first + round) % present.length] as Runtime));

let folder: string;
const shops = new Map<Runtime, Shop>();
const urlOf = (runtime: Runtime): string => shops.get(runtime)?.url ?? "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "volley-runtimes-"));
  const key = generateKey();
  for (const runtime of present) shops.set(runtime, await startShop(runtime, key, folder));
}, 60_000);
afterAll(async () => {
  for (const shop of shops.values()) await shop.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Answers what is asked at another shop than the one that asked. */
async function goOn(round: unknown, runtime: Runtime): Promise<unknown> {
  await using client = await connect(urlOf(runtime), {});
  const moved = client.resume(JSON.stringify(round));
  for (const key of moved.openKeys) moved.answer(key, { action: "accept", content: { [key]: `my ${key}` } });
  const next = await moved.continue();
  return next.done ? next.result?.structuredContent : next;
}

async function begin(runtime: Runtime): Promise<PendingRound> {
  await using client = await connect(urlOf(runtime), {});
  const round = await client.start("tools/call", { name: "order", arguments: { order: "7" } });
  if (round.done) throw new Error("nothing was asked");
  return round;
}

const sent = (begunOn: Runtime, packedOn = begunOn, sentFrom = begunOn): unknown => ({
  item: "my item",
  note: "my note",
  begunOn,
  packedOn,
  sentFrom,
});

test.each(present)("on %s the official client is asked twice and told", async (runtime) => {
  const peer = await officialPeer({ transport: "http", url: urlOf(runtime) });
  expect((await peer.call("order", { order: "7" })).structured).toEqual(sent(runtime));
  expect(peer.asked).toEqual(["form item", "form note"]);
  await peer.close();
});

test.each(pairs)("the client on %s plays a flow with the server on %s", async (here, there) => {
  const order = new URL("/order", urlOf(here));
  order.searchParams.set("at", urlOf(there));
  expect(await (await fetch(order)).json()).toEqual(sent(there));
});

test.each(ways)("S11: a flow begun on %s goes on on %s and ends on %s", async (first, second, third) => {
  const asked = await goOn(await begin(first), second);
  expect(asked).toMatchObject({ done: false });
  expect(await goOn(asked, third)).toEqual(sent(first, second, third));
});

test.each(present)("S7: a state that was altered on its way is refused on %s", async (runtime) => {
  const round = JSON.parse(JSON.stringify(await begin("Node"))) as { requestState: string };
  const last = round.requestState.slice(-2);
  const altered = { ...round, requestState: `${round.requestState.slice(0, -2)}${last === "AA" ? "BA" : "AA"}` };
  await expect(goOn(altered, runtime)).rejects.toMatchObject({ code: -32602 });
});
