/** The tools of `examples/everything` that neither the suite nor the other probes know, over HTTP with our client. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { devNode, type Listening, startListening } from "../../scripts/listening.ts";
import { type Client, connect, type FormAnswer } from "../../src/client.ts";
import { servers } from "./pairs.ts";

let listening: Listening;
let client: Client;
/** What the person says next, by key. */
const says = new Map<string, FormAnswer>();
const asked: { key: string; message: string }[] = [];

beforeAll(async () => {
  listening = await startListening([servers["our server"], "--port", "0"]);
  client = await connect(listening.url, {
    form({ key, message, defaults }) {
      asked.push({ key, message });
      return says.get(key) ?? { action: "accept", content: defaults };
    },
  });
}, 30_000);
afterAll(async () => {
  await client?.close();
  await listening?.stop();
});

async function call(name: string, args: Record<string, unknown> = {}): Promise<string> {
  asked.length = 0;
  const { content } = await client.callTool(name, args);
  return content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n");
}

test("cases 33, 34: a form with every kind of field, left as it is, holds its defaults", async () => {
  says.set("guest", {
    action: "accept",
    content: { email: "ada@example.com", nights: 2, room: "double", newsletter: true },
  });
  expect(JSON.parse(await call("register_guest"))).toEqual({
    email: "ada@example.com",
    nights: 2,
    room: "double",
    newsletter: true,
  });
});

test("S18: a decline and a cancel are told apart", async () => {
  says.set("reason", "decline");
  expect(await call("say_no")).toBe("You chose to decline.");
  says.set("reason", "cancel");
  expect(await call("say_no")).toBe("You chose to cancel.");
  says.set("reason", { reason: "too dear" });
  expect(await call("say_no")).toBe("too dear");
});

test("only accept and yes are a yes", async () => {
  says.set("sure", "decline");
  expect(await call("confirm_or_not")).toBe("Left alone.");
  expect(await call("charge_after_asking")).toBe("Not charged.");
});

test("a race takes the answer of one", async () => {
  says.set("alice", { amount: "10" });
  says.set("bob", { amount: "20" });
  expect(await call("first_of_two")).toBe("Somebody said 10.");
  expect(asked.map(({ key }) => key)).toEqual(["alice", "bob"]);
});

test("X1: steps give the same values in each round", async () => {
  says.set("more", { more: "no" });
  const { ticket, openedInRound } = JSON.parse(await call("remember"));
  expect(asked).toEqual([{ key: "more", message: `Ticket ${ticket}: anything else?` }]);
  expect(ticket).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  expect(openedInRound).toBe(2);
});

test("X5: an order is charged once, however often it is called", async () => {
  expect(await call("charge_once", { order: "A-1" })).toBe("Order A-1 was charged 1 time.");
  expect(await call("charge_once", { order: "A-1" })).toBe("Order A-1 was charged 1 time.");
});

test("a handler in the specification's own shape carries its state sealed", async () => {
  says.set("word", { word: "salt" });
  const rounds: (number | undefined)[] = [];
  const result = await client.callTool("manual_rounds", {}, { onRound: ({ stateBytes }) => rounds.push(stateBytes) });
  expect(result.content).toEqual([{ type: "text", text: "Words: salt and salt." }]);
  expect(rounds).toEqual([undefined, expect.any(Number), undefined]);
});

test("the examples of the SEP", async () => {
  says.set("github_login", { name: "octocat" });
  expect(await call("get_weather", { location: "New York" })).toBe(
    "Current weather in New York:\nTemperature: 72°F\nConditions: Partly cloudy",
  );
  says.set("resolution", { resolution: "Duplicate" });
  says.set("duplicate_of", { duplicateOfId: 4301 });
  expect(await call("update_work_item", { workItemId: 4522, fields: { "System.State": "Resolved" } })).toBe(
    "Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created.",
  );
  expect(asked.map(({ message }) => message)).toEqual([
    "Resolving Bug #4522 requires a resolution. How was this bug resolved?",
    "Since this is a duplicate, which work item is the original?",
  ]);
});

test("the program over stdio ends when its client is gone", async () => {
  const other = await connect({ command: devNode, args: [servers["our server"], "--stdio"] });
  expect((await other.callTool("test_simple_text")).content).toHaveLength(1);
  await other.close();
});
