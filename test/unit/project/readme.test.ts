import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { server } from "../../../examples/resolve-bug/server.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const readme = readFileSync(`${root}README.md`, "utf8");

function blocks(language: string): string[] {
  const found = readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"));
  return [...found].map(([, code]) => code ?? "");
}

interface RequestBody {
  readonly params: { readonly requestState: string };
}

interface ResponseBody {
  readonly result: { readonly requestState: string };
}

async function post(id: number, params: object): Promise<ResponseBody> {
  const response = await server.fetch(
    new Request("http://localhost:3000/mcp", {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "resolve_bug",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
    }),
  );
  expect(response.status).toBe(200);
  return response.json() as Promise<ResponseBody>;
}

test("the README's handler is the example's", () => {
  const example = readFileSync(`${root}examples/resolve-bug/server.ts`, "utf8");
  expect(blocks("ts")[0]).toBe(example.replace("../../src/index.ts", "volley-mcp"));
});

test("the README's messages are what goes over the wire, the sealed state apart", async () => {
  const [asked, retry, done] = blocks("json").map((block): unknown => JSON.parse(block));
  const { params } = retry as RequestBody;
  const { inputResponses, requestState, ...first } = params as typeof params & { inputResponses: object };

  const round1 = await post(1, first);
  expect({ ...round1, result: { ...round1.result, requestState } }).toEqual(asked);

  const round2 = await post(2, { ...first, inputResponses, requestState: round1.result.requestState });
  const sure = { action: "accept", content: { confirm: true } };
  const round3 = await post(3, { ...first, inputResponses: { sure }, requestState: round2.result.requestState });
  expect(round3).toEqual(done);
});
