import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import {
  Cancelled,
  Conflict,
  Declined,
  Failed,
  InDoubt,
  NotDone,
  RpcError,
  type ServerOptions,
  ToolError,
  type TraceEvent,
  VolleyError,
} from "../../../src/index.ts";
import type { Server } from "../../../src/server/index.ts";
import { hasSqlite, rig } from "../tasks/harness.ts";
import { ask, create, ELICITATION } from "./harness.ts";

const SECRET = "connect ECONNREFUSED postgres://app:hunter2@db/x";
const CAUSE = new Error(SECRET);

interface Thrower {
  readonly server: Server;
  readonly events: TraceEvent[];
}

/** A server on which everything that an author writes throws the same. */
function thrower(thrown: unknown, options: Partial<ServerOptions> = {}): Thrower {
  const events: TraceEvent[] = [];
  const fail = (): never => {
    throw thrown;
  };
  const server = create({
    trace: (event) => events.push(event),
    random: (bytes) => new Uint8Array(bytes).fill(0xa1),
    ...options,
  });
  server.tool("t", {}, fail);
  server.prompt("p", { arguments: z.object({ a: z.string().optional() }), complete: { a: fail } }, fail);
  server.resource("r", "x://r", {}, fail);
  server.resourceTemplate("l", "x://l/{id}", { list: fail }, fail);
  return { server, events };
}

/** What the caller hears, from each place in which an author's code runs. */
async function heard(server: Server): Promise<string[]> {
  const ref = { type: "ref/prompt", name: "p" };
  const { result } = await ask(server, "tools/call", { name: "t" });
  expect(result.isError).toBe(true);
  const errors = [
    await ask(server, "prompts/get", { name: "p" }),
    await ask(server, "resources/read", { uri: "x://r" }),
    await ask(server, "resources/read", { uri: "x://l/1" }),
    await ask(server, "completion/complete", { ref, argument: { name: "a", value: "" } }),
    await ask(server, "resources/list"),
  ].map(({ error }) => error);
  for (const { code, data } of errors) expect([code, data]).toEqual([-32603, undefined]);
  return [result.content[0].text, ...errors.map(({ message }) => message)];
}

const HIDDEN = [
  'The tool "t" failed. Reference: a1a1a1a1.',
  "The prompt failed. Reference: a1a1a1a1.",
  "The resource could not be read. Reference: a1a1a1a1.",
  "The resource could not be read. Reference: a1a1a1a1.",
  "The completion failed. Reference: a1a1a1a1.",
  "The resources could not be listed. Reference: a1a1a1a1.",
];

test.each<[string, unknown]>([
  ["an error", CAUSE],
  ["a thrown text", SECRET],
  ["a thrown object", { secret: SECRET }],
  ["our advice to its author", new VolleyError("context_misused", `Put \`await\` before ${SECRET}.`)],
  ["an error of a client within", new VolleyError("connection_failed", `The server at ${SECRET} is gone.`)],
])("rule 10: %s stays with the operator, under the reference that the caller gets", async (_what, error) => {
  const { server, events } = thrower(error);
  expect(await heard(server)).toEqual(HIDDEN);
  const faults = events.filter(({ type }) => type === "fault");
  const targets = ["t", "p", "x://r", "x://l/1", "completion/complete", "resources/list"];
  expect(faults).toEqual(targets.map((target) => ({ type: "fault", target, error, reference: "a1a1a1a1" })));
});

test.each<[string, Error, string]>([
  ["ToolError", new ToolError("There is no bug #7.", { cause: CAUSE }), "There is no bug #7."],
  ["Declined", new Declined("size"), 'The request for "size" was declined.'],
  ["Cancelled", new Cancelled("size"), 'The request for "size" was dismissed without an answer.'],
  ["NotDone", new NotDone("Nothing was charged."), "Nothing was charged."],
  ["Failed", new Failed("The bank refuses."), "The bank refuses."],
  ["no_answer", new VolleyError("no_answer", 'No usable answer to "size" came.'), 'No usable answer to "size" came.'],
  ["Conflict", new Conflict("pay", []), '"pay" was already decided with other answers; they can no longer be changed.'],
])("rule 10: %s speaks to the caller, and is no fault for the operator", async (_what, error, sentence) => {
  const { server, events } = thrower(error);
  expect(await heard(server)).toEqual(HIDDEN.map(() => sentence));
  expect(events.filter(({ type }) => type === "fault")).toEqual([]);
});

const LOOK = "It is not known whether what was asked for has happened. Look before asking for it again.";
test.each<[string, Error, string]>([
  ["effect_in_doubt", new InDoubt("pay", { cause: CAUSE }), LOOK],
  [
    "effect_running",
    new VolleyError("effect_running", SECRET),
    "What was asked for is still under way. Try again later.",
  ],
  [
    "ledger_unavailable",
    new VolleyError("ledger_unavailable", SECRET),
    "The record of what happened once did not answer. Try again.",
  ],
  ["timeout", new VolleyError("timeout", SECRET), "This took longer than it may. Try again later."],
  ["round_limit", new VolleyError("round_limit", SECRET), "This took more rounds than it may. Start again."],
  ["aborted", new VolleyError("aborted", SECRET), "This was stopped before its end."],
  ["closed", new VolleyError("closed", SECRET), "This was stopped before its end."],
  [
    "state_too_large",
    new VolleyError("state_too_large", SECRET),
    "The answers and what was done with them are more than a request may carry. Shorter answers may do.",
  ],
])("rule 10: of %s the caller hears what a caller can do", async (_what, error, sentence) => {
  const { server, events } = thrower(error);
  expect(await heard(server)).toEqual(HIDDEN.map(() => `${sentence} Reference: a1a1a1a1.`));
  expect(events.filter(({ type }) => type === "fault")).toHaveLength(6);
});

test("rule 10: an RpcError passes as it is, and is no fault", async () => {
  const { server, events } = thrower(new RpcError(1234, "Quota used up", { left: 0 }));
  const told = { code: 1234, message: "Quota used up", data: { left: 0 } };
  expect((await ask(server, "tools/call", { name: "t" })).error).toEqual(told);
  expect((await ask(server, "prompts/get", { name: "p" })).error).toEqual(told);
  expect((await ask(server, "resources/list")).error).toEqual(told);
  expect(events.filter(({ type }) => type === "fault")).toEqual([]);
});

test.each<[string, Partial<ServerOptions>, boolean]>([
  ["in development", { development: true }, true],
  ["in production", { development: false }, false],
  ['with errors: "show"', { development: false, errors: "show" }, true],
  ['with errors: "hide"', { development: true, errors: "hide" }, false],
])("rule 10: %s", async (_what, options, shown) => {
  const { server, events } = thrower(CAUSE, options);
  expect(await heard(server)).toEqual(shown ? HIDDEN.map(() => SECRET) : HIDDEN);
  const [first] = events.filter(({ type }) => type === "fault");
  const fault = { type: "fault", target: "t", error: CAUSE };
  expect(first).toEqual(shown ? fault : { ...fault, reference: "a1a1a1a1" });
});

test("rule 10: two errors have two references", async () => {
  const server = create();
  server.tool("t", {}, () => {
    throw CAUSE;
  });
  const text = async (): Promise<string> => (await ask(server, "tools/call", { name: "t" })).result.content[0].text;
  const [one, two] = [await text(), await text()];
  expect(one).toMatch(/^The tool "t" failed\. Reference: [0-9a-f]{8}\.$/);
  expect(two).not.toBe(one);
});

test("rule 10: an output that does not fit its schema is the author's fault, and not quoted", async () => {
  const server = create({ random: (bytes) => new Uint8Array(bytes).fill(0xa1) });
  const wrong = (): never => ({ sum: "hunter2" }) as never;
  server.tool("t", { output: z.object({ sum: z.enum(["a"]) }) }, wrong);
  const { result } = await ask(server, "tools/call", { name: "t" });
  expect(result.content).toEqual([{ type: "text", text: 'The tool "t" failed. Reference: a1a1a1a1.' }]);
});

test("rule 10: a setting that is none is refused", () => {
  expect(() => create({ errors: "all" as "show" })).toThrow('`errors` must be "show" or "hide".');
});

test("rule 10: arguments that the schema refuses are the caller's, with the schema's own words", async () => {
  const server = create();
  server.tool("t", { input: z.object({ n: z.number().refine((n) => n > 1, "must be above one") }) }, () => "");
  const { result } = await ask(server, "tools/call", { name: "t", arguments: { n: 1 } });
  expect(result.content[0].text).toBe('The arguments of "t" are not valid:\n- n: must be above one');
});

test.runIf(hasSqlite)("rule 10: a task's result and status keep to it", async () => {
  const events: TraceEvent[] = [];
  let made = 0;
  await using on = await rig(
    (server) => {
      server.tool("breaks", { task: "required" }, () => {
        throw CAUSE;
      });
      server.tool("says", { task: "required" }, () => {
        throw new ToolError("There is no bug #7.");
      });
    },
    {
      server: { trace: (event) => events.push(event), random: (bytes) => new Uint8Array(bytes).fill(0xa1) },
      idOf: () => `task-${++made}`,
    },
  );
  const first = await on.call("breaks");
  const broken = await on.until(first.taskId, "completed");
  expect(JSON.stringify(broken)).not.toContain("hunter2");
  expect(broken.result.content).toEqual([{ type: "text", text: 'The tool "breaks" failed. Reference: a1a1a1a1.' }]);
  const fault = { type: "fault", target: "breaks", error: CAUSE, reference: "a1a1a1a1" };
  expect(events.filter(({ type }) => type === "fault")).toEqual([fault]);
  const second = await on.call("says");
  expect((await on.until(second.taskId, "completed")).result.content).toEqual([
    { type: "text", text: "There is no bug #7." },
  ]);
});

test("rule 12: -32021 names the questions and what to give to connect", async () => {
  const server = create();
  server.tool("t", {}, async (_args, ctx) => {
    const size = ctx.elicit("size", { message: "Size?", schema: z.object({ size: z.string() }) });
    await Promise.all([size, ctx.elicitUrl("page", { message: "Open", url: "https://id.example/" }), ctx.listRoots()]);
    return "";
  });
  const can = { "io.modelcontextprotocol/clientCapabilities": { roots: {} } };
  expect((await ask(server, "tools/call", { name: "t" }, can)).error).toEqual({
    code: -32021,
    message:
      'This request needs input that the client does not declare it can give: the question "size" needs elicitation.form: ' +
      'give `connect` of volley-mcp/client a `form` handler; the question "page" needs elicitation.url: give `connect` of ' +
      "volley-mcp/client a `url` handler.",
    data: { requiredCapabilities: { elicitation: { form: {}, url: {} } } },
  });
  expect((await ask(server, "tools/call", { name: "t" }, ELICITATION)).error.message).toBe(
    'This request needs input that the client does not declare it can give: the question "page" needs elicitation.url: give ' +
      '`connect` of volley-mcp/client a `url` handler; the question "roots" needs roots: give `connect` of volley-mcp/client a ' +
      "`roots` handler.",
  );
});

afterEach(() => void vi.restoreAllMocks());

test("rule 10: without a trace the line for the operator has the reference", async () => {
  const error = vi.spyOn(console, "error").mockReturnValue(undefined);
  const { server } = thrower(CAUSE, { trace: undefined as never });
  await ask(server, "tools/call", { name: "t" });
  expect(error.mock.calls).toEqual([["[volley] fault in t (reference a1a1a1a1):", CAUSE]]);
});
