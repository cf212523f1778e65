import { expect, test } from "vitest";
import { ANONYMOUS, createKeyring, createSealer } from "../../../src/state/index.ts";
import { volley, volleyIn } from "./volley.ts";

const one = "vk1_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const two = "vk1_BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const three = "vk1_CAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const [kid1, kid2, kid3] = createKeyring([one, two, three]).kids as [string, string, string];

function state(key: string): string {
  const request = { method: "tools/call", target: "pay", arguments: {}, principal: ANONYMOUS };
  const times = { issuedAt: 0, expiresAt: 1_000, deadline: 1_000 };
  return createSealer({ keyring: createKeyring([key]) })
    .bind(request)
    .seal({}, times, 65_536);
}

test("X3: volley keys lists key ids in order and which one seals, and shows no key", async () => {
  const { code, out, err } = await volleyIn({ env: { VOLLEY_KEYS: `${two},${one}` } }, "keys");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toBe(`key       use\n${kid2}  seals and opens\n${kid1}  opens\n`);
  expect(out).not.toMatch(/vk1_|AAAA/);
});

test("X3, case 38: volley keys --states counts states by the key that sealed them", async () => {
  const input = [state(one), state(two), state(one), "", `  ${state(three)}`, "null", "v1.short.x", "{}"].join("\n");
  const { code, out } = await volleyIn({ env: { VOLLEY_KEYS: `${two},${one}` }, input }, "keys", "--states");
  expect(code).toBe(0);
  expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["key", "use", "states", "oldest sealed", "newest sealed"],
    [kid2, "seals and opens", "1"],
    [kid1, "opens", "2"],
    [kid3, "none", "1"],
    ["-", "no state", "3"],
    [""],
  ]);
});

test("X3: from a server's trace volley keys --states also says when the states of a key were sealed", async () => {
  const opened = (kid: string, sealedAt: number): string =>
    JSON.stringify({ type: "state_opened", target: "pay", kid, sealedAt });
  const input = [
    opened(kid1, Date.UTC(2026, 10, 29, 12)),
    JSON.stringify({ type: "round", target: "pay" }),
    opened(kid1, Date.UTC(2026, 10, 28, 12)),
    opened(kid2, Date.UTC(2026, 10, 29, 13)),
  ].join("\n");
  const { out } = await volleyIn({ env: { VOLLEY_KEYS: `${two},${one}` }, input }, "keys", "--states");
  expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["key", "use", "states", "oldest sealed", "newest sealed"],
    [kid2, "seals and opens", "1", "2026-11-29T13:00:00Z", "2026-11-29T13:00:00Z"],
    [kid1, "opens", "2", "2026-11-28T12:00:00Z", "2026-11-29T12:00:00Z"],
    [""],
  ]);
});

test("volley keys without usable keys says so, exit code 1", async () => {
  expect(await volley("keys")).toEqual({
    code: 1,
    out: "",
    err: "volley keys: VOLLEY_KEYS is not set: `volley keygen` makes a key for it.\n",
  });
  const { code, out, err } = await volleyIn({ env: { VOLLEY_KEYS: "secret" } }, "keys");
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(/^volley keys: Key 1 is not a Volley key/);
  expect(err).not.toContain("secret");
});
