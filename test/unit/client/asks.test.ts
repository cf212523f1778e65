import { describe, expect, test } from "vitest";
import { type ConnectOptions, checkUrl, connect, type FormAsk, type UrlAsk } from "../../../src/client.ts";
import { form, inputRequired, type MemoryTransport, memory, TASKS, text } from "./fixtures.ts";

/** Asks the questions once, then returns text. */
function asking(requests: unknown, extra: Record<string, unknown> = {}): MemoryTransport {
  return memory(({ params }) =>
    params?.inputResponses === undefined ? { ...inputRequired(requests, "s"), ...extra } : text("done"),
  );
}

async function answersTo(requests: unknown, options: ConnectOptions): Promise<unknown> {
  const transport = asking(requests);
  await (await connect(transport, options)).callTool("work");
  return transport.requests[1]?.params?.inputResponses;
}

function capabilitiesIn(transport: MemoryTransport): unknown {
  const meta = transport.requests[0]?.params?._meta as Record<string, unknown>;
  return meta["io.modelcontextprotocol/clientCapabilities"];
}

const BUG = form(
  { resolution: { type: "string", enum: ["Fixed", "Duplicate"] }, note: { type: "string", maxLength: 5 } },
  ["resolution"],
);

describe("C10: only what has a handler is declared", () => {
  const url = (): "accept" => "accept";
  const sampling = (): never => {
    throw new Error("not asked");
  };
  test.each<[string, ConnectOptions, unknown]>([
    ["nothing", {}, {}],
    ["form", { form: () => "cancel" }, { elicitation: { form: {} } }],
    ["url", { url }, { elicitation: { url: {} } }],
    ["both", { form: () => "cancel", url }, { elicitation: { form: {}, url: {} } }],
    ["sampling", { sampling }, { sampling: {} }],
    [
      "sampling with tools and context",
      { sampling: { create: sampling, tools: true, context: true } },
      { sampling: { tools: {}, context: {} } },
    ],
    ["roots", { roots: () => [] }, { roots: {} }],
  ])("%s", async (_, options, declared) => {
    const transport = memory(() => text("done"));
    const client = await connect(transport, options);
    await client.callTool("work");
    expect(capabilitiesIn(transport)).toEqual({ ...(declared as object), ...TASKS });
    expect(client.capabilities).toEqual({ ...(declared as object), ...TASKS });
  });

  test.each<[string, unknown, ConnectOptions]>([
    ["a form without any handler", { a: BUG }, {}],
    ["a form with a url handler only", { a: BUG }, { url }],
    [
      "a page with a form handler only",
      { a: { method: "elicitation/create", params: { mode: "url", message: "", url: "https://a.example/" } } },
      { form: () => "cancel" },
    ],
    [
      "a model with tools",
      { a: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1, tools: [] } } },
      { sampling },
    ],
    ["roots", { a: { method: "roots/list" } }, { form: () => "cancel" }],
  ])("case 25: %s is an error, and nobody is asked", async (_, requests, options) => {
    const transport = asking(requests);
    const client = await connect(transport, options);
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "no_handler" });
    expect(transport.requests).toHaveLength(1);
  });

  test("case 25: when one question of several has no handler, the others are not asked either", async () => {
    let asked = 0;
    const client = await connect(asking({ a: BUG, b: { method: "roots/list" } }), {
      form: () => {
        asked++;
        return "cancel";
      },
    });
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "no_handler" });
    expect(asked).toBe(0);
  });
});

describe("a form", () => {
  test("C7: comes with its fields, its defaults, who asks and in the middle of what", async () => {
    let asked: FormAsk | undefined;
    const transport = asking(
      {
        resolution: form(
          {
            resolution: { type: "string", enum: ["Fixed"], default: "Fixed" },
            hours: { type: "integer", title: "Hours" },
          },
          ["resolution"],
          "How?",
        ),
      },
      { _meta: { "io.modelcontextprotocol/serverInfo": { name: "tracker", title: "Tracker", version: "1.0.0" } } },
    );
    const client = await connect(transport, {
      form: (ask) => {
        asked = ask;
        return ask.defaults;
      },
    });
    await client.callTool("resolve_bug", { id: 1 });
    expect(asked).toMatchObject({
      key: "resolution",
      message: "How?",
      server: { address: "memory", name: "tracker", title: "Tracker", version: "1.0.0" },
      call: { method: "tools/call", target: "resolve_bug" },
      round: 1,
      problems: [],
      fields: [
        { kind: "choice", name: "resolution", required: true, default: "Fixed" },
        { kind: "integer", name: "hours", title: "Hours", required: false },
      ],
    });
    expect({ ...asked?.defaults }).toEqual({ resolution: "Fixed" });
  });

  test("C7: an absent mode is a form", async () => {
    const requests = {
      a: {
        method: "elicitation/create",
        params: { message: "?", requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } } },
      },
    };
    expect(await answersTo(requests, { form: () => ({ ok: true }) })).toEqual({
      a: { action: "accept", content: { ok: true } },
    });
  });

  test("case 34: untouched, it sends its defaults, a required boolean too", async () => {
    const requests = {
      a: form(
        {
          sure: { type: "boolean", default: true },
          tags: { type: "array", items: { type: "string", enum: ["x", "y"] }, default: ["x"] },
          free: { type: "string" },
        },
        ["sure"],
      ),
    };
    expect(await answersTo(requests, { form: (ask) => ask.defaults })).toEqual({
      a: { action: "accept", content: { sure: true, tags: ["x"] } },
    });
  });

  test.each<[string, unknown, unknown]>([
    [
      "the protocol's shape",
      { action: "accept", content: { resolution: "Fixed" } },
      { action: "accept", content: { resolution: "Fixed" } },
    ],
    ["content alone", { resolution: "Fixed" }, { action: "accept", content: { resolution: "Fixed" } }],
    [
      "what was not asked for is left out",
      { resolution: "Fixed", more: 1, note: undefined },
      { action: "accept", content: { resolution: "Fixed" } },
    ],
    ["decline", "decline", { action: "decline" }],
    ["cancel", "cancel", { action: "cancel" }],
    ["case 29: decline with junk", { action: "decline", content: { resolution: 7 } }, { action: "decline" }],
    ["case 29: decline with null", { action: "decline", content: null }, { action: "decline" }],
    ["case 29: cancel in the protocol's shape", { action: "cancel" }, { action: "cancel" }],
  ])("answered by %s", async (_, answer, sent) => {
    expect(await answersTo({ a: BUG }, { form: () => answer as "decline" })).toEqual({ a: sent });
  });

  test("C7: an answer that does not fit is asked for again with what is wrong, three times at most", async () => {
    const seen: unknown[] = [];
    const options: ConnectOptions = {
      form: ({ problems }) => {
        seen.push(problems.map(({ field }) => field));
        return { resolution: "Maybe", note: "too long" };
      },
    };
    const transport = asking({ a: BUG });
    const client = await connect(transport, options);
    await expect(client.callTool("work")).rejects.toMatchObject({
      code: "no_answer",
      message: expect.stringContaining('"a"'),
    });
    expect(seen).toEqual([[], ["resolution", "note"], ["resolution", "note"]]);
    expect(transport.requests).toHaveLength(1);
  });

  test("C7: the second answer counts when it fits", async () => {
    const answers = [{ resolution: "Maybe" }, { resolution: "Fixed" }];
    expect(await answersTo({ a: BUG }, { form: () => answers.shift() ?? "cancel" })).toEqual({
      a: { action: "accept", content: { resolution: "Fixed" } },
    });
  });

  test.each([undefined, null, 7, "yes", [], { action: "accept", content: "Fixed" }])(
    "the answer %j is an error",
    async (answer) => {
      const client = await connect(asking({ a: BUG }), { form: () => answer as unknown as "cancel" });
      await expect(client.callTool("work")).rejects.toMatchObject({ code: "no_answer" });
    },
  );

  test("what a handler throws ends the call, and takes the other questions back", async () => {
    let other: FormAsk | undefined;
    const client = await connect(asking({ a: BUG, b: BUG }), {
      form: (ask) => {
        if (ask.key === "b") throw new Error("no terminal");
        other = ask;
        return new Promise(() => {});
      },
    });
    await expect(client.callTool("work")).rejects.toThrow("no terminal");
    expect(other?.signal.aborted).toBe(true);
  });

  test("one that cannot be shown is an error", async () => {
    const client = await connect(asking({ a: form({ nested: { type: "object", properties: {} } }) }), {
      form: () => "cancel",
    });
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "message_invalid" });
  });

  test("case 23: names like __proto__ and constructor are plain data", async () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string","default":"p"},"constructor":{"type":"integer"}},"required":["__proto__","constructor"]}',
    );
    const requests = JSON.parse('{"__proto__":null,"constructor":null}');
    Object.defineProperty(requests, "__proto__", {
      value: { method: "elicitation/create", params: { message: "m", requestedSchema: schema } },
      enumerable: true,
    });
    requests.constructor = { method: "elicitation/create", params: { message: "m", requestedSchema: schema } };
    const transport = asking(requests);
    const keys: string[] = [];
    const client = await connect(transport, {
      form: (ask) => {
        keys.push(ask.key);
        return { ...ask.defaults, ...JSON.parse('{"__proto__":"x"}'), constructor: 1 };
      },
    });
    await client.callTool("work");
    expect(keys).toEqual(["__proto__", "constructor"]);
    expect(JSON.stringify(transport.requests[1]?.params?.inputResponses)).toBe(
      '{"__proto__":{"action":"accept","content":{"__proto__":"x","constructor":1}},"constructor":{"action":"accept","content":{"__proto__":"x","constructor":1}}}',
    );
    expect(({} as Record<string, unknown>).action).toBeUndefined();
  });

  test("questions nested too deep are an error", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}`);
    const client = await connect(asking({ a: form({ x: { type: "string", deep } }) }), { form: () => "cancel" });
    await expect(client.callTool("work")).rejects.toMatchObject({ code: "message_invalid" });
  });
});

describe("a page to open", () => {
  const page = (url: string): unknown => ({
    a: { method: "elicitation/create", params: { mode: "url", message: "Please give your key", url } },
  });

  test("C8: comes with its full address, its host and what is odd about it; nothing is opened", async () => {
    let asked: UrlAsk | undefined;
    const answered = await answersTo(page("https://mcp.example.com/ui/set_api_key?x=1"), {
      url: (ask) => {
        asked = ask;
        return "accept";
      },
    });
    expect(asked).toMatchObject({
      key: "a",
      message: "Please give your key",
      url: "https://mcp.example.com/ui/set_api_key?x=1",
      host: "mcp.example.com",
      warnings: [],
      server: { address: "memory" },
    });
    expect(answered).toEqual({ a: { action: "accept" } });
  });

  test.each<[unknown, unknown]>([
    ["decline", { action: "decline" }],
    ["cancel", { action: "cancel" }],
    [{ action: "accept", content: { secret: 1 } }, { action: "accept" }],
  ])("C8: answered by %j, no content is sent", async (answer, sent) => {
    expect(await answersTo(page("https://a.example/"), { url: () => answer as "decline" })).toEqual({ a: sent });
  });

  test("the answer has to be one", async () => {
    await expect(
      answersTo(page("https://a.example/"), { url: () => true as unknown as "accept" }),
    ).rejects.toMatchObject({ code: "no_answer" });
  });

  test.each([
    ["https://example.com/a?b=c#d", "example.com", []],
    ["https://example.com:8443/", "example.com:8443", []],
    ["https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com", ["punycode"]],
    ["https://аpple.com/", "xn--pple-43d.com", ["punycode"]],
    ["https://login.xn--80ak6aa92e.com/", "login.xn--80ak6aa92e.com", ["punycode"]],
    ["https://bank.example@evil.example/", "evil.example", ["userinfo"]],
    ["http://example.com/", "example.com", ["not_https"]],
    ["http://localhost:3000/", "localhost:3000", []],
    ["http://127.0.0.1:3000/", "127.0.0.1:3000", []],
    ["http://[::1]:3000/", "[::1]:3000", []],
    ["https://192.0.2.7/", "192.0.2.7", ["ip_address"]],
    ["https://3221225991/", "192.0.2.7", ["ip_address"]],
    ["http://[2001:db8::1]/", "[2001:db8::1]", ["not_https", "ip_address"]],
    ["http://localhost.evil.example/", "localhost.evil.example", ["not_https"]],
  ])("C8: %s", (url, host, warnings) => {
    expect(checkUrl(url)).toMatchObject({ host, warnings });
  });

  test.each(["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "not a url", ""])(
    "C8: %s cannot be opened",
    (url) => {
      expect(() => checkUrl(url)).toThrow(expect.objectContaining({ code: "message_invalid" }));
    },
  );
});

describe("a model and roots", () => {
  const capital = {
    method: "sampling/createMessage",
    params: {
      messages: [{ role: "user", content: { type: "text", text: "What is the capital of France?" } }],
      maxTokens: 100,
    },
  };

  test("the model's message goes back", async () => {
    let prompt: unknown;
    const answered = await answersTo(
      { capital_of_france: capital },
      {
        sampling: (params) => {
          prompt = params;
          return { role: "assistant", content: { type: "text", text: "Paris." }, model: "m", stopReason: "endTurn" };
        },
      },
    );
    expect(prompt).toEqual(capital.params);
    expect(answered).toEqual({
      capital_of_france: {
        role: "assistant",
        content: { type: "text", text: "Paris." },
        model: "m",
        stopReason: "endTurn",
      },
    });
  });

  test("one that is none is an error", async () => {
    await expect(answersTo({ a: capital }, { sampling: () => ({ text: "Paris" }) as never })).rejects.toMatchObject({
      code: "no_answer",
    });
  });

  test("roots go back", async () => {
    expect(
      await answersTo(
        { a: { method: "roots/list" } },
        { roots: () => [{ uri: "file:///srv/project", name: "project" }] },
      ),
    ).toEqual({
      a: { roots: [{ uri: "file:///srv/project", name: "project" }] },
    });
  });

  test("roots outside file:// are an error", async () => {
    await expect(
      answersTo({ a: { method: "roots/list" } }, { roots: () => [{ uri: "https://a.example/" }] }),
    ).rejects.toMatchObject({ code: "no_answer" });
  });

  test("C1: questions of all kinds are answered together", async () => {
    const answered = await answersTo(
      {
        github_login: form({ name: { type: "string" } }, ["name"]),
        capital_of_france: capital,
        where: { method: "roots/list", params: {} },
      },
      {
        form: () => ({ name: "octocat" }),
        sampling: () => ({ role: "assistant", content: { type: "text", text: "Paris." }, model: "m" }),
        roots: () => [],
      },
    );
    expect(answered).toEqual({
      github_login: { action: "accept", content: { name: "octocat" } },
      capital_of_france: { role: "assistant", content: { type: "text", text: "Paris." }, model: "m" },
      where: { roots: [] },
    });
  });
});
