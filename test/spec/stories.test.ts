// The two uses of a state, each with processes that share nothing but a key.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Listening, startListening } from "../../scripts/listening.ts";
import { generateKey } from "../../src/state.ts";
import { accept, type Wire, wireTo } from "./wire.ts";

const VOLLEY_KEYS = generateKey();
const start = (version: string, keys: string): Promise<Listening> =>
  startListening(["--expose-gc", "test/spec/story-server.ts", version], { VOLLEY_KEYS: keys });
let processes: Listening[] = [];
let older: Wire;
let newer: Wire;
let keyless: unknown;
beforeAll(async () => {
  const refusal = start("old", "").catch((error: unknown) => error);
  processes = await Promise.all([start("old", VOLLEY_KEYS), start("new", VOLLEY_KEYS)]);
  [older, newer] = processes.map(({ url }) => wireTo(url)) as [Wire, Wire];
  keyless = await refusal;
}, 40_000);
afterAll(() => Promise.all(processes.map((process) => process.stop())));

const question = (site: string): object => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message: `Please provide your ${site} username`,
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  },
});

describe("a rolling upgrade", () => {
  test("S20, S11: github_login is kept, google_login is ignored, microsoft_login is asked", async () => {
    const first = await older.call("link_accounts", { id: 1 });
    expect(first.json.result.inputRequests).toEqual({
      github_login: question("github"),
      google_login: question("google"),
    });

    const second = await newer.call("link_accounts", {
      id: 2,
      state: first.json.result.requestState,
      answers: { github_login: accept({ name: "octocat" }), google_login: accept({ name: "ada" }) },
    });
    expect(second.json.result.inputRequests).toEqual({ microsoft_login: question("microsoft") });

    const third = await newer.call("link_accounts", {
      id: 3,
      state: second.json.result.requestState,
      answers: { microsoft_login: accept({ name: "ada@contoso.example" }) },
    });
    expect(third.json.result.content).toEqual([{ type: "text", text: "new: octocat, ada@contoso.example" }]);
  });

  test("S20: what the old version has sealed is kept too", async () => {
    const first = await older.call("link_accounts");
    const github = { github_login: accept({ name: "octocat" }) };
    const second = await older.call("link_accounts", { state: first.json.result.requestState, answers: github });
    expect(Object.keys(second.json.result.inputRequests)).toEqual(["google_login"]);
    const third = await newer.call("link_accounts", {
      state: second.json.result.requestState,
      answers: { google_login: accept({ name: "ada" }) },
    });
    expect(third.json.result.inputRequests).toEqual({ microsoft_login: question("microsoft") });
  });

  test("S20: rolled back in the middle, the old version goes on with what it knows too", async () => {
    const first = await newer.call("link_accounts");
    const answers = { github_login: accept({ name: "octocat" }), microsoft_login: accept({ name: "x" }) };
    const second = await older.call("link_accounts", { state: first.json.result.requestState, answers });
    expect(second.json.result.inputRequests).toEqual({ google_login: question("google") });
    const third = await older.call("link_accounts", {
      state: second.json.result.requestState,
      answers: { google_login: accept({ name: "ada" }) },
    });
    expect(third.json.result.content[0].text).toBe("old: octocat, ada");
  });
});

describe("load shedding", () => {
  test("S19, S11: a busy instance hands the flow back with what it has done, and another one goes on from there", async () => {
    const args = { upTo: 1_000_000 };
    const first = await older.call("sum", { id: 1, args });
    expect(Object.keys(first.json.result).sort()).toEqual(["_meta", "requestState", "resultType"]);
    expect(first.json.result.resultType).toBe("input_required");

    const second = await newer.call("sum", { id: 2, args, state: first.json.result.requestState });
    const { sum, by, round } = JSON.parse(second.json.result.content[0].text);
    expect([sum, round]).toEqual([500_000_500_000, 2]);
    expect(by[0]).not.toBe(by[1]);

    // Where nobody is busy the whole sum is one round, and one process.
    const alone = await newer.call("sum", { id: 3, args });
    expect(JSON.parse(alone.json.result.content[0].text)).toEqual({ sum, by: [by[1], by[1]], round: 1 });
  });

  test("S19: it sheds at most twice a flow, and the state is bound to the sum it is about", async () => {
    const args = { upTo: 10 };
    const first = await older.call("sum", { args });
    const second = await older.call("sum", { args, state: first.json.result.requestState });
    expect(second.json.result.content[0].text).toContain('"sum":55');
    const other = await newer.call("sum", { args: { upTo: 12 }, state: first.json.result.requestState });
    expect(other.json.error).toMatchObject({ code: -32602, data: { reason: "state_refused" } });
  });
});

test("S10, S12, case 43: rounds that nobody comes back to leave nothing, in memory or in the ledger", async () => {
  const held = async (): Promise<{ heap: number; ledgerCalls: number }> =>
    JSON.parse((await newer.call("held")).json.result.content[0].text);
  const leave = async (rounds: number): Promise<void> => {
    for (let i = 0; i < rounds; i += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => newer.call("ask")));
      for (const { json } of answers) expect(json.result.resultType).toBe("input_required");
    }
  };
  await leave(500); // until code and buffers are warm
  await held();
  const before = await held();
  await leave(2_000);
  const after = await held();
  expect(after.ledgerCalls).toBe(before.ledgerCalls);
  expect(after.heap - before.heap).toBeLessThan(1024 * 1024);
});

test("case 37: a process without a key does not serve, and says which setting", () => {
  expect(String(keyless)).toMatch(/ended before it was listening.*VOLLEY_KEYS.*volley keygen.*singleInstance/s);
});
