// Clients that do with a state what they should not.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expiry, KEY_1, KEY_2, MEMO, openVault, refusal, TEN, type Vault, YES } from "./vault.ts";
import { headersFor, type Leg, message } from "./wire.ts";

const alice = { token: "alice" };

let vault: Vault;
let state: string;
beforeEach(async () => {
  vault = await openVault();
  state = (await vault.call("transfer", { ...alice, args: TEN })).json.result.requestState;
});
afterEach(() => vault[Symbol.asyncDispose]());

/** Expects one call to be refused: one message to the byte, the reason in the trace only, no handler begun. */
async function expectRefused(
  leg: Leg,
  reason: string,
  call: (leg: Leg) => ReturnType<Vault["call"]>,
  told = refusal("r-1"),
): Promise<void> {
  const before = vault.ran();
  const traced = vault.refusals().length;
  const answer = await call({ id: "r-1", answers: YES, ...alice, args: TEN, state, ...leg });
  expect(answer.text).toBe(told);
  expect(answer.status).toBe(200);
  expect(vault.refusals().slice(traced)).toEqual([reason]);
  expect(vault.ran()).toBe(before);
}
const transfer = (leg: Leg): ReturnType<Vault["call"]> => vault.call("transfer", leg);

test("S7: without an attack the two rounds go through", async () => {
  const second = await transfer({ ...alice, args: TEN, state, answers: YES });
  const last = { ...alice, args: TEN, state: second.json.result.requestState, answers: MEMO };
  expect((await transfer(last)).json.result.content[0].text).toBe("Sent, number 1.");
  expect(vault.moved).toEqual(["10 to carol for rent"]);
});

describe("a state is bound", () => {
  const users = ["bob", "alice-elsewhere", "alice-tenant"];
  test.each(users)("case 39, S8: another user, %s", (token) => expectRefused({ token }, "authentication", transfer));

  const others: readonly (readonly [string, object])[] = [
    ["another amount", { ...TEN, amount: 11 }],
    ["another receiver", { ...TEN, to: "eve" }],
    ["one argument more", { ...TEN, note: "" }],
    ["one that the schema drops", { ...TEN, extra: null }],
  ];
  test.each(others)("case 39, S8: other arguments, %s", (_what, args) =>
    expectRefused({ args }, "authentication", transfer),
  );

  test("case 39, S8: another tool with the same handler", () =>
    expectRefused({}, "authentication", (leg) => vault.call("transfer_too", leg)));

  test("case 39, S8: another method, with the same name and arguments", async () => {
    const args = { to: "carol" };
    const calls: readonly ((leg: Leg) => ReturnType<Vault["call"]>)[] = [
      (leg) => vault.call("show", { ...leg, args }),
      (leg) => vault.prompt("show", { ...leg, args }),
      (leg) => vault.call("vault://show", { ...leg, args: {} }),
      (leg) => vault.read("vault://show", leg),
    ];
    for (const [from, to] of [
      [0, 1],
      [1, 0],
      [2, 3],
      [3, 2],
    ] as const) {
      const first = await calls[from]?.(alice);
      await expectRefused({ state: first?.json.result.requestState }, "authentication", calls[to] as (typeof calls)[0]);
    }
  });

  test("case 39, S8: a state is good for ten minutes, to the millisecond, and the flow for an hour", async () => {
    await vault.clock.advance(599_999);
    const second = await transfer({ ...alice, args: TEN, state, answers: YES });
    expect(Object.keys(second.json.result.inputRequests)).toEqual(["memo"]);
    await vault.clock.advance(1);
    await expectRefused({}, "expired", transfer, expiry("r-1"));
    await vault.clock.advance(3_000_000);
    await expectRefused({}, "deadline", transfer, expiry("r-1"));
  });

  test("S7: that a state has expired is told only to who could use it", async () => {
    await vault.clock.advance(600_000);
    await expectRefused({ token: "bob" }, "authentication", transfer);
    await expectRefused({ args: { ...TEN, amount: 11 } }, "authentication", transfer);
    await expectRefused({ state: `${state.slice(0, -2)}AA` }, "authentication", transfer);
  });

  test("case 39, S8: a state of a server whose clock is three minutes ahead", async () => {
    await using ahead = await openVault({ clock: { now: () => vault.clock.now() + 180_000, after: () => () => {} } });
    const early = await ahead.call("transfer", { ...alice, args: TEN });
    await expectRefused({ state: early.json.result.requestState }, "future", transfer);
  });

  test("case 39, S8: a state of another service under the same keys, and of the same service under others", async () => {
    await using elsewhere = await openVault({ audience: "https://other.example/mcp" });
    const first = await elsewhere.call("transfer", { ...alice, args: TEN });
    await expectRefused({ state: first.json.result.requestState }, "authentication", transfer);
    await using foreign = await openVault({ keys: [KEY_2] });
    const second = await foreign.call("transfer", { ...alice, args: TEN });
    await expectRefused({ state: second.json.result.requestState }, "kid", transfer);
  });

  test("S8: not to the token, the client's name, the order of arguments or the spelling of numbers", async () => {
    const sent = message("tools/call", { name: "transfer", arguments: "ARGS" }, { state, answers: YES });
    const body = JSON.stringify(sent).replace('"ARGS"', '{"amount":1.0e1,"\\u0074o":"carol"}');
    const named = body.replace(
      '"_meta":{',
      '"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"x","version":"2"},',
    );
    const headers = { ...headersFor("tools/call", "transfer"), authorization: "Bearer alice-refreshed" };
    const answer = await vault.post(named, headers);
    expect(Object.keys(answer.json.result.inputRequests)).toEqual(["memo"]);
  });
});

describe("a state is whole", () => {
  const flip = (at: number, bit = 1): string =>
    state.slice(0, at) + String.fromCharCode(state.charCodeAt(at) ^ bit) + state.slice(at + 1);

  test("case 39: one bit flipped in any part", async () => {
    for (const at of [0, 1, 2, 11]) await expectRefused({ state: flip(at) }, "format", transfer);
    await expectRefused(
      { state: state.replace(/^v1\.(.)/, (_all, c) => `v1.${c === "A" ? "B" : "A"}`) },
      "kid",
      transfer,
    );
    const swap = (at: number): string => state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1);
    for (const at of [12, 40, 44, 45, 200, state.length - 22, state.length - 2]) {
      await expectRefused({ state: swap(at) }, "authentication", transfer);
    }
  });

  test("case 24, case 39: any character replaced by any of the alphabet, everywhere", async () => {
    const before = vault.ran();
    for (let from = 0; from < state.length; from += 25) {
      const altered = Array.from({ length: 25 }, (_, i) => from + i)
        .filter((at) => at < state.length)
        .map((at) => state.slice(0, at) + "AZaz09-_."[at % 9] + state.slice(at + 1))
        .filter((text) => text !== state);
      const answers = await Promise.all(altered.map((text) => transfer({ id: 5, ...alice, args: TEN, state: text })));
      for (const { text } of answers) expect(text).toBe(refusal(5));
    }
    expect(vault.ran()).toBe(before);
  });

  const damages: readonly (readonly [string, (state: string) => string])[] = [
    ["padding", (text) => `${text}=`],
    ["the other alphabet", (text) => text.replaceAll("-", "+").replaceAll("_", "/").replace(/A/g, "+")],
    ["a space before", (text) => ` ${text}`],
    ["a line end after", (text) => `${text}\n`],
    ["percent-encoded", (text) => text.replaceAll(".", "%2E")],
    ["twice", (text) => text + text],
    ["another version", (text) => text.replace(/^v1/, "v2")],
    ["upper case", (text) => text.toUpperCase()],
    ["its end alone", (text) => text.slice(-64)],
    ["only its beginning", (text) => text.slice(0, 12)],
  ];
  test.each(damages)("case 24: %s", (_what, damage) => expectRefused({ state: damage(state) }, "format", transfer));

  test("case 24: shorter or longer by what still is base64url, it is another text", async () => {
    const [format, kid, body = ""] = state.split(".");
    const bytes = Buffer.from(body, "base64url");
    const respell = (changed: Buffer): string => `${format}.${kid}.${changed.toString("base64url")}`;
    await expectRefused({ state: respell(bytes.subarray(0, -1)) }, "authentication", transfer);
    await expectRefused({ state: respell(Buffer.concat([bytes, Buffer.alloc(1)])) }, "authentication", transfer);
  });

  const inventions: readonly (readonly [string, unknown, string])[] = [
    ["an empty one", "", "format"],
    ["foo", "foo", "format"],
    ["the example's", "eyJyZXNvbHV0aW9uIjoiRHVwbGljYXRlIn0...", "format"],
    ["a readable one", JSON.stringify({ sure: true }), "format"],
    ["an emoji", "🙂", "format"],
    ["half an emoji", "v1.\ud83d", "format"],
    ["__proto__", "__proto__", "format"],
    ["a body that is too short", `v1.AAAAAAAA.${"A".repeat(20)}`, "format"],
    ["one of nobody's key", `v1.AAAAAAAA.${"A".repeat(400)}`, "kid"],
    ["64 KiB", `v1.AAAAAAAA.${"A".repeat(65_536 - 12)}`, "kid"],
    ["a byte more", "A".repeat(65_537), "too_large"],
    ["1 MB", "A".repeat(1_000_000), "too_large"],
    ["null", null, "format"],
    ["true", true, "format"],
    ["a number", 1, "format"],
    ["a list of itself", ["x"], "format"],
    ["an object", { toString: "x", length: 3 }, "format"],
  ];
  test.each(inventions)("case 24, S16: invented, %s", (_what, invented, reason) =>
    expectRefused({ state: invented }, reason, transfer),
  );

  test("case 24: dropped, its answers are worth nothing and the questions start over", async () => {
    const answer = await transfer({ ...alice, args: TEN, answers: { ...YES, ...MEMO } });
    expect(Object.keys(answer.json.result.inputRequests)).toEqual(["sure"]);
    expect(vault.moved).toEqual([]);
  });

  test("S7: an old state may be presented again, and answered another way, before anything happened", async () => {
    const no = { sure: { action: "accept", content: { confirm: false } } };
    for (const [answers, text] of [
      [no, "Kept."],
      [YES, undefined],
      [no, "Kept."],
    ] as const) {
      const { result } = (await transfer({ ...alice, args: TEN, state, answers })).json;
      expect(result.content?.[0].text).toBe(text);
    }
  });
});

describe("keys change", () => {
  const first = async (replica: Vault): Promise<string> =>
    (await replica.call("transfer", { ...alice, args: TEN })).json.result.requestState;
  const goesOn = async (replica: Vault, from: string): Promise<string> => {
    const { json } = await replica.call("transfer", { ...alice, args: TEN, state: from, answers: YES });
    expect(Object.keys(json.result?.inputRequests ?? json)).toEqual(["memo"]);
    return json.result.requestState;
  };
  const kidOf = (text: string): string => text.split(".")[1] as string;

  test("case 38, X3: appended on every replica, moved to the front one after the other, then the old one removed", async () => {
    const waiting = await first(vault);
    await using a = await openVault({ keys: [KEY_1, KEY_2] });
    await goesOn(a, waiting);
    const afterAppend = await goesOn(vault, await first(a));
    await using b = await openVault({ keys: [KEY_2, KEY_1] });
    await goesOn(b, waiting);
    const byNewKey = await first(b);
    expect(kidOf(byNewKey)).not.toBe(kidOf(waiting));
    expect(kidOf(afterAppend)).toBe(kidOf(waiting));
    await goesOn(a, byNewKey);
    // A round may go from one key to the other and back.
    expect(kidOf(await goesOn(b, await first(a)))).toBe(kidOf(byNewKey));
    await using c = await openVault({ keys: [KEY_2] });
    await goesOn(c, byNewKey);
    const late = await c.call("transfer", { id: 9, ...alice, args: TEN, state: waiting, answers: YES });
    expect([late.text, c.refusals(), c.ran()]).toEqual([refusal(9), ["kid"], 1]);
  });

  test("case 38: without the first step the replicas refuse each other: rotation is two steps", async () => {
    await using ahead = await openVault({ keys: [KEY_2, KEY_1] });
    await expectRefused({ state: await first(ahead) }, "kid", transfer);
  });
});

test("S7: all refusals are one, and their reasons differ in the trace alone", async () => {
  const ids = ["a", 1, "ü"];
  for (const id of ids) {
    const texts = await Promise.all(
      ["foo", "A".repeat(70_000), `v1.AAAAAAAA.${"A".repeat(400)}`, `${state.slice(0, -3)}AAA`].map(
        async (invented) => (await transfer({ id, ...alice, args: TEN, state: invented })).text,
      ),
    );
    expect(new Set(texts)).toEqual(new Set([refusal(id)]));
  }
  expect([...new Set(vault.refusals())].sort()).toEqual(["authentication", "format", "kid", "too_large"]);
  expect(KEY_1).not.toBe(KEY_2);
});
