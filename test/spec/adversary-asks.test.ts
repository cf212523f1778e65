// What may be asked of whom, and how it is written.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { connect } from "../../src/client.ts";
import { type Context, createServer, type InputRequired, type Server } from "../../src/index.ts";
import { createFakeClock, type FakeClock } from "../../src/testing.ts";
import { CAPITAL_OF_FRANCE_REQUEST } from "../fixtures/messages.ts";
import { accept, message, serve, type Wire } from "./wire.ts";

let server: Server;
let wire: Wire;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock();
  server = createServer({
    name: "asks",
    version: "1.0.0",
    singleInstance: true,
    clock,
    errors: "show",
    trace: () => {},
  });
  wire = await serve(server);
});
afterEach(() => wire[Symbol.asyncDispose]());

describe("capabilities", () => {
  const weather = { name: "weather", inputSchema: { type: "object" } } as const;
  const said = { messages: [{ role: "user", content: { type: "text", text: "Hello" } }], maxTokens: 10 } as const;
  const asks: Record<string, (ctx: Context) => Promise<unknown>> = {
    form: (ctx) => ctx.elicit("q", { message: "Name?", schema: z.object({ name: z.string() }) }),
    confirm: (ctx) => ctx.confirm("q", "Sure?"),
    url: (ctx) => ctx.elicitUrl("q", { message: "Sign in", url: "https://id.example/login" }),
    sampling: (ctx) => ctx.createMessage("q", structuredClone(said) as never),
    tools: (ctx) => ctx.createMessage("q", { ...structuredClone(said), tools: [weather] } as never),
    toolChoice: (ctx) => ctx.createMessage("q", { ...structuredClone(said), toolChoice: { mode: "none" } } as never),
    context: (ctx) => ctx.createMessage("q", { ...structuredClone(said), includeContext: "thisServer" } as never),
    noContext: (ctx) => ctx.createMessage("q", { ...structuredClone(said), includeContext: "none" } as never),
    roots: (ctx) => ctx.listRoots("q"),
  };
  let went: string[];
  beforeEach(() => {
    went = [];
    for (const [name, ask] of Object.entries(asks)) {
      const handler = async (_args: unknown, ctx: Context): Promise<string> => {
        await ask(ctx);
        went.push(name);
        return "answered";
      };
      server.tool(name, {}, handler);
      server.prompt(name, {}, handler);
      server.resource(name, `ask://${name.toLowerCase()}`, {}, handler);
    }
  });

  /** What gives `connect` each capability. */
  const remedy: Record<string, string> = {
    "elicitation.form": "a `form` handler",
    "elicitation.url": "a `url` handler",
    sampling: "a `sampling` handler",
    "sampling.tools": "`sampling: { create, tools: true }`",
    "sampling.context": "`sampling: { create, context: true }`",
    roots: "a `roots` handler",
  };
  const pathOf = (needed: object): string =>
    Object.entries(needed)
      .flatMap(([name, inner]) => [name, ...Object.keys(inner)])
      .join(".");

  const refused: readonly (readonly [string, object, object])[] = [
    ["form", {}, { elicitation: { form: {} } }],
    ["form", { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ["confirm", { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ["confirm", { sampling: {}, roots: {} }, { elicitation: { form: {} } }],
    ["url", {}, { elicitation: { url: {} } }],
    ["url", { elicitation: {} }, { elicitation: { url: {} } }],
    ["url", { elicitation: { form: {} } }, { elicitation: { url: {} } }],
    ["sampling", {}, { sampling: {} }],
    ["sampling", { elicitation: {}, roots: {} }, { sampling: {} }],
    ["tools", { sampling: {} }, { sampling: { tools: {} } }],
    ["tools", { sampling: { context: {} } }, { sampling: { tools: {} } }],
    ["toolChoice", { sampling: {} }, { sampling: { tools: {} } }],
    ["context", { sampling: { tools: {} } }, { sampling: { context: {} } }],
    ["roots", {}, { roots: {} }],
    ["roots", { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} } }, { roots: {} }],
    ["roots", JSON.parse('{"__proto__":{"roots":{}}}'), { roots: {} }],
  ];
  test.each(refused)(
    "case 27, S6, S26: %s with %j is -32021 and 400, and the handler goes no further",
    async (name, can, needed) => {
      const text = JSON.stringify({
        jsonrpc: "2.0",
        id: 7,
        error: {
          code: -32021,
          message:
            'This request needs input that the client does not declare it can give: the question "q" needs ' +
            `${pathOf(needed)}: give \`connect\` of volley-mcp/client ${remedy[pathOf(needed)]}.`,
          data: { requiredCapabilities: needed },
        },
      });
      for (const call of [
        wire.call(name, { id: 7, can }),
        wire.prompt(name, { id: 7, can }),
        wire.read(`ask://${name.toLowerCase()}`, { id: 7, can }),
      ]) {
        const answer = await call;
        expect([answer.status, answer.text]).toEqual([400, text]);
      }
      expect(went).toEqual([]);
    },
  );

  const allowed: readonly (readonly [string, object, string])[] = [
    ["form", { elicitation: {} }, "form"],
    ["form", { elicitation: { form: {} } }, "form"],
    ["confirm", { elicitation: { form: {}, url: {} } }, "form"],
    ["url", { elicitation: { url: {} } }, "url"],
    ["sampling", { sampling: {} }, "sampling/createMessage"],
    ["noContext", { sampling: {} }, "sampling/createMessage"],
    ["tools", { sampling: { tools: {} } }, "sampling/createMessage"],
    ["context", { sampling: { context: {} } }, "sampling/createMessage"],
    ["roots", { roots: {} }, "roots/list"],
  ];
  test.each(allowed)("case 27, S6: %s with %j is asked", async (name, can, kind) => {
    const { result } = (await wire.call(name, { can })).json;
    const { q } = result.inputRequests;
    expect([q.params?.mode ?? q.method, Object.keys(result.inputRequests)]).toEqual([kind, ["q"]]);
  });

  test("S6: no partial round: one question too many, and none is asked, by hand or not", async () => {
    server.tool("both", {}, async (_args, ctx) => {
      await Promise.all([ctx.confirm("sure", "Sure?"), ctx.listRoots("where")]);
      return "answered";
    });
    const { inputRequests } = {
      inputRequests: {
        sure: {
          method: "elicitation/create",
          params: { message: "Sure?", requestedSchema: { type: "object", properties: {} } },
        },
        where: { method: "roots/list" },
      },
    };
    server.tool(
      "by_hand",
      {},
      () => ({ resultType: "input_required", inputRequests, requestState: "s" }) as InputRequired,
    );
    for (const name of ["both", "by_hand"]) {
      const answer = await wire.call(name, { can: { elicitation: {} } });
      expect(answer.json).toEqual({
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32021, message: expect.any(String), data: { requiredCapabilities: { roots: {} } } },
      });
      const two = await wire.call(name, { can: {} });
      expect(two.json.error.data.requiredCapabilities).toEqual({ elicitation: { form: {} }, roots: {} });
    }
  });

  test("S6: what counts is what this request declares, not an earlier one", async () => {
    const first = await wire.call("form", { can: { elicitation: {} } });
    const state = first.json.result.requestState;
    const again = await wire.call("form", { can: {}, state, answers: {} });
    expect([again.status, again.json.error.code]).toEqual([400, -32021]);
    const answered = await wire.call("form", { can: {}, state, answers: { q: accept({ name: "Ada" }) } });
    expect(answered.json.result.content[0].text).toBe("answered");
  });

  test("case 25: a client without a person says so, and nobody answers for the person", async () => {
    await using client = await connect(wire.url);
    const { elicitation, sampling, roots } = client.capabilities;
    expect([elicitation, sampling, roots]).toEqual([undefined, undefined, undefined]);
    await expect(client.callTool("confirm")).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
    expect(went).toEqual([]);
  });
});

describe("forms", () => {
  const titled = [
    { const: "r", title: "Red" },
    { const: "g", title: "Green" },
  ];
  const plain = {
    type: "object",
    properties: {
      untitled: { type: "string", enum: ["r", "g"] },
      titled: { type: "string", oneOf: titled, default: "g" },
      named: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
      several: { type: "array", items: { type: "string", enum: ["r", "g"] }, minItems: 1, maxItems: 2 },
      titledSeveral: { type: "array", items: { anyOf: titled }, default: ["r"] },
    },
    required: ["untitled", "several"],
  } as const;
  const one = z.enum(["r", "g"]);
  const red = z.literal("r").meta({ title: "Red" });
  const green = z.literal("g").meta({ title: "Green" });
  const fromZod = z.object({
    untitled: one,
    titled: z.union([red, green]).default("g"),
    several: z.array(one).min(1).max(2),
    titledSeveral: z.array(z.union([red, green])).default(["r"]),
  });
  const { named: _named, ...sameInZod } = plain.properties;
  const fromValibot = toStandardJsonSchema(v.object({ untitled: v.picklist(["r", "g"]) }));
  const { untitled } = plain.properties;

  const forms: readonly (readonly [string, never, object])[] = [
    ["a plain schema", plain as never, plain],
    ["zod", fromZod as never, { ...plain, properties: sameInZod }],
    ["valibot", fromValibot as never, { type: "object", properties: { untitled }, required: ["untitled"] }],
  ];
  test.each(forms)("case 33: enums of all forms from %s, inline and flat", async (_what, schema, requestedSchema) => {
    server.tool("pick", {}, async (_args, ctx) =>
      JSON.stringify(await ctx.elicit("pick", { message: "Which?", schema })),
    );
    const { result } = (await wire.call("pick")).json;
    expect(result.inputRequests.pick.params).toEqual({ mode: "form", message: "Which?", requestedSchema });
    expect(JSON.stringify(result.inputRequests)).not.toMatch(/\$ref|\$defs|\$schema|additionalProperties/);
  });

  const wrong: readonly (readonly [string, object])[] = [
    ["a title instead of a value", { untitled: "Red", several: ["r"] }],
    ["a value instead of a list", { untitled: "r", several: "r" }],
    ["an empty list", { untitled: "r", several: [] }],
    ["an unknown value in a list", { untitled: "r", several: ["r", "x"] }],
    ["more than allowed", { untitled: "r", several: ["r", "g", "r"] }],
    ["null", { untitled: null, several: ["r"] }],
    ["constructor", { untitled: "constructor", several: ["r"] }],
  ];
  test.each(wrong)("case 33, S17: %s is asked again", async (_what, content) => {
    for (const [index, schema] of [plain, fromZod].entries()) {
      const name = `pick${index}`;
      server.tool(name, {}, async (_args, ctx) =>
        JSON.stringify(await ctx.elicit("pick", { message: "Which?", schema })),
      );
      const { requestState: state } = (await wire.call(name)).json.result;
      const again = await wire.call(name, { state, answers: { pick: accept(content) } });
      expect(again.json.result.inputRequests.pick.params.message).toMatch(/^Which\?\n\n./);
      const good = accept({ untitled: "g", several: ["g"], titledSeveral: ["g", "r"] });
      const done = await wire.call(name, { state: again.json.result.requestState, answers: { pick: good } });
      expect(JSON.parse(done.json.result.content[0].text)).toMatchObject({ untitled: "g", several: ["g"] });
    }
  });

  test("case 34, C7: an untouched form goes back with its defaults, a required true as true", async () => {
    const schema = {
      type: "object",
      properties: {
        terms: { type: "boolean", default: true },
        color: { type: "string", oneOf: titled, default: "g" },
        colors: { type: "array", items: { type: "string", enum: ["r", "g"] }, default: ["r", "g"] },
        count: { type: "integer", default: 0 },
        note: { type: "string", default: "" },
        free: { type: "string" },
      },
      required: ["terms", "color"],
    } as const;
    server.tool("order", {}, async (_args, ctx) =>
      JSON.stringify(await ctx.elicit("order", { message: "Order", schema })),
    );
    const { result } = (await wire.call("order")).json;
    expect(result.inputRequests.order.params.requestedSchema).toEqual(schema);
    await using client = await connect(wire.url, { form: (form) => form.defaults });
    const { content } = await client.callTool("order");
    const untouched = { terms: true, color: "g", colors: ["r", "g"], count: 0, note: "" };
    expect(JSON.parse((content[0] as { text: string }).text)).toEqual(untouched);
  });

  test("S22: a form asks for no secret, and a page is https and says who nobody is", async () => {
    server.tool("password", {}, async (_args, ctx) => {
      await ctx.elicit("login", { message: "Log in", schema: z.object({ password: z.string() }) });
      return "in";
    });
    const { result } = (await wire.call("password")).json;
    expect([result.isError, result.inputRequests]).toEqual([true, undefined]);
    expect(result.content[0].text).toMatch(/password.*elicitUrl/s);
    const urls = ["http://id.example/", "ftp://id.example/", "https://ada:pw@id.example/", "javascript:alert(1)", "/x"];
    for (const [index, url] of urls.entries()) {
      server.tool(`open${index}`, {}, async (_args, ctx) => {
        await ctx.elicitUrl("page", { message: "Open", url });
        return "opened";
      });
      const { json } = await wire.call(`open${index}`);
      expect([json.result.isError, json.result.inputRequests]).toEqual([true, undefined]);
    }
  });
});

test("case 35, S12: a person thinks for 61 seconds: the answer is taken, and no request was open meanwhile", async () => {
  server.tool("greet", {}, async (_args, ctx) => {
    return (await ctx.elicit("q", { message: "Name?", schema: z.object({ name: z.string() }) })).name;
  });
  const first = await wire.call("greet");
  await clock.advance(61_000);
  expect(wire.open()).toBe(0);
  const answers = { q: accept({ name: "Ada" }) };
  const second = await wire.call("greet", { state: first.json.result.requestState, answers });
  expect(second.json.result.content[0].text).toBe("Ada");

  // With our client too, whose requests may take less time than the person takes here.
  const open: number[] = [];
  await using client = await connect(wire.url, {
    legTimeoutMs: 3_000,
    async form() {
      const until = performance.now() + 3_300;
      while (performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        open.push(wire.open());
      }
      return { name: "Eve" };
    },
  });
  expect((await client.callTool("greet")).content).toEqual([{ type: "text", text: "Eve" }]);
  expect(new Set(open)).toEqual(new Set([0]));
});

test("S5: capital_of_france goes out word for word, and a model's answer is reduced to what the protocol has", async () => {
  server.tool("ask", {}, async (_args, ctx) =>
    JSON.stringify(
      await ctx.createMessage("capital_of_france", structuredClone(CAPITAL_OF_FRANCE_REQUEST.params) as never),
    ),
  );
  const { result } = (await wire.call("ask")).json;
  expect(result.inputRequests).toEqual({ capital_of_france: CAPITAL_OF_FRANCE_REQUEST });
  const answer = { role: "assistant", model: "m", content: { type: "text", text: "Paris", admin: true }, admin: true };
  const answers = { capital_of_france: answer };
  const done = await wire.send(message("tools/call", { name: "ask" }, { state: result.requestState, answers }));
  expect(JSON.parse(done.json.result.content[0].text)).toEqual({
    role: "assistant",
    model: "m",
    content: { type: "text", text: "Paris" },
  });
});
