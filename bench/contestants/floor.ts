/**
 * The floor: what a round costs when nothing is checked. Bare node:http, JSON.parse, AES-256-GCM, JSON.stringify.
 * It is the limit that the other contestants are held against, and no example of how to write a server.
 */
import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes, randomUUID } from "node:crypto";
import * as z from "zod";
import { listen, options } from "./serve.ts";
import {
  AddInput,
  BugInput,
  CORE_TOOLS,
  DESCRIPTIONS,
  fillers,
  ORIGINAL_FORM,
  RESOLUTION_FORM,
  text,
} from "./tools.ts";

interface Call {
  readonly name: string;
  readonly arguments: { readonly id: number; readonly a: number; readonly b: number };
  readonly requestState?: string;
  readonly inputResponses?: Record<
    string,
    { readonly content: { readonly resolution: string; readonly original: number } }
  >;
}

interface State {
  readonly flow: string;
  readonly expires: number;
  readonly resolution?: string;
}

const { key: shared, tools: count } = options();
// A KeyObject: from raw bytes a cipher takes far longer to make on Node 24.
const key = createSecretKey(shared === undefined ? randomBytes(32) : createHash("sha256").update(shared).digest());

function seal(state: State): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  return Buffer.concat([nonce, cipher.update(JSON.stringify(state)), cipher.final(), cipher.getAuthTag()]).toString(
    "base64url",
  );
}

function open(token: string): State {
  const bytes = Buffer.from(token, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  return JSON.parse(`${decipher.update(bytes.subarray(12, -16), undefined, "utf8")}${decipher.final("utf8")}`) as State;
}

const tools = [
  { name: "add", description: DESCRIPTIONS.add, inputSchema: z.toJSONSchema(AddInput) },
  { name: "resolve_bug", description: DESCRIPTIONS.resolve_bug, inputSchema: z.toJSONSchema(BugInput) },
  { name: "resolve_duplicate", description: DESCRIPTIONS.resolve_duplicate, inputSchema: z.toJSONSchema(BugInput) },
  ...fillers(count - CORE_TOOLS).map(({ name, title, description, input }) => ({
    name,
    title,
    description,
    inputSchema: z.toJSONSchema(input, { io: "input" }),
  })),
];

function answer(method: string, params: Call): unknown {
  if (method === "tools/call") return call(params);
  if (method === "tools/list") return { resultType: "complete", tools, ttlMs: 0, cacheScope: "private" };
  return {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: "private",
  };
}

function call({ name, arguments: input, requestState, inputResponses }: Call): unknown {
  if (name === "add") return complete(String(input.a + input.b));
  if (requestState === undefined) {
    const state = { flow: randomUUID(), expires: Date.now() + 600_000 };
    return ask("resolution", text.howResolved(input.id), RESOLUTION_FORM, state);
  }
  const state = open(requestState);
  const resolution = state.resolution ?? inputResponses?.resolution?.content.resolution ?? "";
  if (name === "resolve_bug") return complete(text.closed(input.id, resolution));
  const original = inputResponses?.original?.content.original;
  if (original === undefined) {
    return ask("original", text.whichOriginal(input.id), ORIGINAL_FORM, { ...state, resolution });
  }
  return complete(text.duplicate(input.id, resolution, original));
}

function ask(name: string, message: string, requestedSchema: object, state: State): unknown {
  return {
    resultType: "input_required",
    inputRequests: { [name]: { method: "elicitation/create", params: { mode: "form", message, requestedSchema } } },
    requestState: seal(state),
  };
}

function complete(value: string): unknown {
  return { resultType: "complete", content: [{ type: "text", text: value }] };
}

listen((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
      id: number;
      method: string;
      params: Call;
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id, result: answer(method, params) });
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
  });
});
