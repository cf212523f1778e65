// Rule 11: plain JavaScript gets the sentences that TypeScript gets from its compiler.
import { expect, test } from "vitest";
import { harness } from "./harness.ts";

// biome-ignore lint/suspicious/noExplicitAny: as plain JavaScript calls it
type Untyped = any;

const schema = { type: "object", properties: { a: { type: "string" } } };

const cases: readonly [string, (ctx: Untyped) => unknown, string, string][] = [
  [
    "a confirm without a name",
    (ctx) => ctx.confirm("Are you sure?"),
    "context_misused",
    'ctx.confirm("Are you sure?") needs a name and then a message: ctx.confirm("sure", "Are you sure?").',
  ],
  [
    "a confirm with an object",
    (ctx) => ctx.confirm("sure", { message: "Are you sure?" }),
    "context_misused",
    'ctx.confirm("sure", ...) needs its message as a string, not an object.',
  ],
  [
    "a confirm with an empty name",
    (ctx) => ctx.confirm("", "Are you sure?"),
    "context_misused",
    'ctx.confirm needs a name of its own first, the same in each round, not an empty string: ctx.confirm("sure", "Are you sure?").',
  ],
  [
    "a misspelt message",
    (ctx) => ctx.elicit("a", { mesage: "?", schema }),
    "invalid_options",
    'ctx.elicit("a", ...) has no option "mesage". Did you mean "message"?',
  ],
  [
    "no message",
    (ctx) => ctx.elicit("a", { schema }),
    "context_misused",
    'ctx.elicit("a", ...) needs a `message` in its question.',
  ],
  [
    "no schema",
    (ctx) => ctx.elicit.outcome("a", { message: "?" }),
    "context_misused",
    'ctx.elicit("a", ...) needs a `schema` in its question.',
  ],
  [
    "a message that is none",
    (ctx) => ctx.elicit("a", { message: 5, schema }),
    "context_misused",
    'ctx.elicit("a", ...) needs its message as a string, not a number.',
  ],
  [
    "a question without a name",
    (ctx) => ctx.elicit({ message: "?", schema }),
    "context_misused",
    'ctx.elicit needs a name of its own first, the same in each round, not an object: ctx.elicit("size", { message, schema }).',
  ],
  [
    "a question that is missing",
    (ctx) => ctx.elicit("a"),
    "context_misused",
    'ctx.elicit("a", ...) needs its question as the second argument, { message, schema }, not undefined.',
  ],
  [
    "the message alone",
    (ctx) => ctx.elicit("a", "Which?"),
    "context_misused",
    'ctx.elicit("a", ...) needs its question as the second argument, { message, schema }, not a string.',
  ],
  [
    "a page without a URL",
    (ctx) => ctx.elicitUrl("a", { message: "?" }),
    "context_misused",
    'ctx.elicitUrl("a", ...) needs a `url` in its question.',
  ],
  [
    "a page with a schema",
    (ctx) => ctx.elicitUrl("a", { message: "?", url: "https://a.example", schema }),
    "invalid_options",
    'ctx.elicitUrl("a", ...) has no option "schema". It has: message, url.',
  ],
  [
    "sampling without messages",
    (ctx) => ctx.createMessage("a", { prompt: "?" }),
    "context_misused",
    'ctx.createMessage("a", ...) needs its messages: ctx.createMessage("summary", { messages, maxTokens }).',
  ],
  [
    "roots with an empty name",
    (ctx) => ctx.listRoots(""),
    "context_misused",
    'ctx.listRoots needs a name of its own first, the same in each round, not an empty string: ctx.listRoots("roots").',
  ],
  [
    "a task's misspelt option",
    (ctx) => ctx.toTask({ ttl: 5 }),
    "invalid_options",
    'ctx.toTask has no option "ttl". Did you mean "ttlMs"?',
  ],
];

test.each(cases)("%s", async (_, handler, code, message) => {
  const flow = harness((_args, ctx) => handler(ctx));
  await expect(flow.ends()).rejects.toMatchObject({ code, message });
});
