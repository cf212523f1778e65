// Literal messages by node:http to a server in this process or in another one.
import { Agent, createServer as createHttpServer, type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { HeaderReader, Principal, Server, TraceEvent } from "../../src/index.ts";
import { nodeHandler } from "../../src/node.ts";

/** What came back, to the byte. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The one message of a JSON answer; of a stream the last one. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  readonly json: any;
}

/** One round, as a client may send it; what is undefined is left out. */
export interface Leg {
  readonly id?: unknown;
  readonly args?: unknown;
  /** `requestState`. */
  readonly state?: unknown;
  /** `inputResponses`. */
  readonly answers?: unknown;
  /** `clientCapabilities`; everything unless it is said otherwise. */
  readonly can?: object;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string;
}

export interface Wire extends AsyncDisposable {
  readonly url: string;
  /** Requests that the server has begun and not ended; for a server of this process. */
  readonly open: () => number;
  /** Sends a body as it is, with the headers as they are. */
  post(body: string | Uint8Array, headers: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends a message with the headers that belong to it, and further ones. */
  send(message: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  call(tool: string, leg?: Leg): Promise<Answer>;
  prompt(name: string, leg?: Leg): Promise<Answer>;
  read(uri: string, leg?: Leg): Promise<Answer>;
}

export const ALL = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
} as const;

/** A request of this revision. */
export function message(method: string, params: object, leg: Leg = {}): object {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": leg.can ?? ALL,
    ...leg.meta,
  };
  const { id = 1, state, answers } = leg;
  return {
    jsonrpc: "2.0",
    id,
    method,
    params: {
      ...params,
      ...(answers === undefined ? {} : { inputResponses: answers }),
      ...(state === undefined ? {} : { requestState: state }),
      _meta,
    },
  };
}

/** The headers that mirror a method and a name. */
export function headersFor(method: string, name?: string): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": mirrored(name) }),
  };
}

function mirrored(value: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith("=?");
  return isPlain ? value : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

/** A connection to a server by its URL. */
export function wireTo(url: string, open: () => number = () => 0): Wire {
  const agent = new Agent({ keepAlive: true });
  const post: Wire["post"] = (body, headers) =>
    new Promise((resolve, reject) => {
      const req = request(url, { method: "POST", agent, headers }, (res) => {
        const chunks: Buffer[] = [];
        res.on("data", (chunk: Buffer) => chunks.push(chunk));
        res.on("error", reject);
        res.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          const isStream = res.headers["content-type"] === "text/event-stream";
          const last = isStream ? [...text.matchAll(/^data: (.*)$/gm)].at(-1)?.[1] : text;
          const json = last ? JSON.parse(last) : undefined;
          resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json });
        });
      });
      req.on("error", reject);
      req.end(body);
    });
  const send: Wire["send"] = (sent, headers) => {
    const { method, params } = sent as { method: string; params?: { name?: string; uri?: string } };
    return post(JSON.stringify(sent), { ...headersFor(method, params?.name ?? params?.uri), ...headers });
  };
  const round = (method: string, params: object, leg: Leg = {}): Promise<Answer> =>
    send(message(method, params, leg), leg.token === undefined ? {} : { authorization: `Bearer ${leg.token}` });
  const withArguments = (name: string, leg: Leg | undefined): object =>
    leg?.args === undefined ? { name } : { name, arguments: leg.args };
  return {
    url,
    open,
    post,
    send,
    call: (tool, leg) => round("tools/call", withArguments(tool, leg), leg),
    prompt: (name, leg) => round("prompts/get", withArguments(name, leg), leg),
    read: (uri, leg) => round("resources/read", { uri }, leg),
    async [Symbol.asyncDispose]() {
      agent.destroy();
    },
  };
}

/** Serves by node:http on a free port of this process, until it is disposed of. */
export async function serve(server: Server): Promise<Wire> {
  let open = 0;
  const http = createHttpServer(nodeHandler(server));
  http.on("request", (_req, res) => {
    open++;
    res.on("close", () => open--);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const wire = wireTo(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, () => open);
  return {
    ...wire,
    async [Symbol.asyncDispose]() {
      await wire[Symbol.asyncDispose]();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await server.close(0);
    },
  };
}

const user = (issuer: string, subject: string, tenant?: string): Principal =>
  tenant === undefined ? { type: "user", issuer, subject } : { type: "user", issuer, subject, tenant };

const USERS: ReadonlyMap<string, Principal> = new Map([
  ["alice", user("https://id.example", "alice")],
  ["alice-refreshed", user("https://id.example", "alice")],
  ["alice-elsewhere", user("https://other.example", "alice")],
  ["alice-tenant", user("https://id.example", "alice", "acme")],
  ["bob", user("https://id.example", "bob")],
]);

/** Says who a bearer token is for. */
export function authenticate(request: HeaderReader): Principal | undefined {
  const token = /^Bearer (\S+)$/.exec(request.header("authorization") ?? "")?.[1];
  return token === undefined ? undefined : USERS.get(token);
}

/** A trace, and a way to read the events of one type. */
export function tracing(): { trace: (event: TraceEvent) => void; of: (type: TraceEvent["type"]) => TraceEvent[] } {
  const events: TraceEvent[] = [];
  return { trace: (event) => void events.push(event), of: (type) => events.filter((event) => event.type === type) };
}

export const accept = (content: object): object => ({ action: "accept", content });
