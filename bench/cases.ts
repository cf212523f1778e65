import type { Shot } from "./lib/load.ts";

/** The revision that a contestant speaks. */
export type Dialect = "2026-07-28" | "2025-06-18";

/** A kind of request that servers are compared by. */
export interface Case {
  readonly name: string;
  readonly title: string;
  /** How many tools the server has. */
  readonly tools: number;
  /** Talks to a fresh server and returns what the load is to send, in order; every answer on the way is checked. */
  prepare(peer: Peer): Promise<readonly Shot[]>;
  /** Asks once more and throws when the answer is not word for word what it should be. */
  verify(peer: Peer): Promise<void>;
}

/** A server under test, spoken to by hand. */
export interface Peer {
  readonly url: string;
  readonly dialect: Dialect;
}

/** How many different flows are captured before the load replays them; each has its own arguments and state. */
const FLOWS = 128;
const FIRST_ID = 4300;

/** Who the load says it is. */
export const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} } },
} as const;

let lastId = 0;

/** Builds a request as a client of that revision sends it. */
export function shot(dialect: Dialect, method: string, params: Record<string, unknown>): Shot {
  const older = dialect !== "2026-07-28";
  lastId += 1;
  return {
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": dialect,
      ...(older ? {} : { "Mcp-Method": method }),
      ...(older || typeof params.name !== "string" ? {} : { "Mcp-Name": params.name }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params: older ? params : { _meta: META, ...params } }),
  };
}

/** What the fields of a result are that the bench looks at. */
export interface Result {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly tools?: readonly { readonly name: string; readonly inputSchema: unknown }[];
  readonly inputRequests?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
}

/** Sends one request by hand and returns its result, from JSON or from the last event of a stream. */
export async function send(url: string, { headers, body }: Shot): Promise<Result> {
  const response = await fetch(url, { method: "POST", headers: { ...headers }, body });
  const raw = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const json = isStream
    ? (raw
        .match(/^data: (.*)$/gm)
        ?.at(-1)
        ?.slice(6) ?? "")
    : raw;
  const message = JSON.parse(json) as { readonly result?: Result };
  if (response.status !== 200 || message.result === undefined) throw new Error(`${url} answered ${raw}`);
  return message.result;
}

export function call(dialect: Dialect, name: string, args: object, more: Record<string, unknown> = {}): Shot {
  return shot(dialect, "tools/call", { name, arguments: args, ...more });
}

/** What the person says to each question. */
const ANSWERS: Readonly<Record<string, object>> = {
  resolution: { resolution: "Duplicate" },
  original: { original: 4301 },
  // The questions of the long flows of `grow`.
  ...Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`question-${i + 1}`, { resolution: "Fixed" }])),
};

/** The answer to one question. */
export function answerOf(key: string): object {
  return { action: "accept", content: ANSWERS[key] };
}

/** Builds the request that answers everything that a result asks. */
export function answer(dialect: Dialect, name: string, args: object, asked: Result): Shot {
  const keys = Object.keys(asked.inputRequests ?? {});
  return call(dialect, name, args, {
    inputResponses: Object.fromEntries(keys.map((key) => [key, answerOf(key)])),
    ...(asked.requestState === undefined ? {} : { requestState: asked.requestState }),
  });
}

/** Goes through one whole flow and returns each of its requests. */
async function flow(
  { url, dialect }: Peer,
  name: string,
  id: number,
  asks: readonly string[],
): Promise<readonly Shot[]> {
  const shots: Shot[] = [call(dialect, name, { id })];
  for (const key of asks) {
    const asked = await send(url, shots.at(-1) as Shot);
    expectThat(Object.keys(asked.inputRequests ?? {}).join() === key, `${name} asks for ${key}`, asked);
    expectThat(typeof asked.requestState === "string", `${name} sends state`, asked);
    shots.push(answer(dialect, name, { id }, asked));
  }
  const done = await send(url, shots.at(-1) as Shot);
  const wanted = asks.length > 1 ? `#${id} closed as Duplicate of #4301.` : `#${id} closed as Duplicate.`;
  expectThat(done.content?.[0]?.text === wanted, `${name} ends with "${wanted}"`, done);
  return shots;
}

async function flows(peer: Peer, name: string, asks: readonly string[]): Promise<readonly (readonly Shot[])[]> {
  const all: (readonly Shot[])[] = [];
  for (let i = 0; i < FLOWS; i += 1) all.push(await flow(peer, name, FIRST_ID + i, asks));
  return all;
}

function flowCase(name: string, title: string, tool: string, asks: readonly string[], legs: readonly number[]): Case {
  return {
    name,
    title,
    tools: 3,
    prepare: async (peer) => (await flows(peer, tool, asks)).flatMap((shots) => legs.map((leg) => shots[leg] as Shot)),
    verify: async (peer) => void (await flow(peer, tool, 9999, asks)),
  };
}

export const PLAIN: Case = {
  name: "plain",
  title: "plain tool call",
  tools: 3,
  prepare: async (peer) => {
    await PLAIN.verify(peer);
    return Array.from({ length: FLOWS }, (_, i) => call(peer.dialect, "add", { a: i, b: 2 }));
  },
  verify: async ({ url, dialect }) => {
    const result = await send(url, call(dialect, "add", { a: 40, b: 2 }));
    expectThat(result.content?.[0]?.text === "42", "40 + 2 is 42", result);
  },
};

export const LIST: Case = {
  name: "list",
  title: "tools/list, 50 tools",
  tools: 50,
  prepare: async (peer) => {
    await LIST.verify(peer);
    return [shot(peer.dialect, "tools/list", {})];
  },
  verify: async ({ url, dialect }) => {
    const { tools = [] } = await send(url, shot(dialect, "tools/list", {}));
    const schemas = tools.filter(({ inputSchema }) => JSON.stringify(inputSchema).includes('"properties"'));
    expectThat(
      schemas.length === 50,
      "50 tools with their schemas are listed",
      tools.map(({ name }) => name),
    );
  },
};

export const FIRST: Case = flowCase("first", "first leg", "resolve_bug", ["resolution"], [0]);
export const SECOND: Case = flowCase("second", "second leg", "resolve_bug", ["resolution"], [1]);
export const FLOW3: Case = flowCase(
  "flow3",
  "three-round flow",
  "resolve_duplicate",
  ["resolution", "original"],
  [0, 1, 2],
);

export function expectThat(holds: boolean, what: string, got: unknown): void {
  if (!holds) throw new Error(`expected that ${what}; got ${JSON.stringify(got).slice(0, 500)}`);
}
