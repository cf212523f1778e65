// Flows by the official client, which answers by itself. What its connection does not carry is sent again below it.
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Counts } from "./counts.ts";
import { type Ending, readEnding, readFailure, type ToolResult } from "./ending.ts";
import { type Attempt, createPerson } from "./played.ts";

export interface OfficialClient {
  play(attempt: Attempt): Promise<Ending>;
  close(): Promise<void>;
}

const PATIENCE_MS = 60_000;
/** Of the proxy, when a process has died or is not there, and of limits. */
const PASSING = [429, 502, 503, 504];

export async function connectOfficial(url: string, user: string, counts: Counts): Promise<OfficialClient> {
  let order = "none";
  let person = createPerson({}, counts);
  const persist: typeof fetch = async (address, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${user}`);
    headers.set("x-order", order);
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (let delay = 50; ; delay = Math.min(2 * delay, 1_000)) {
      const late = performance.now() >= giveUpAt;
      try {
        const response = await fetch(address, { ...init, headers });
        if (late || !PASSING.includes(response.status)) {
          if (init?.method === "POST") counts.rounds += 1;
          return response;
        }
        await response.body?.cancel();
      } catch (error) {
        if (late || init?.signal?.aborted) throw error;
      }
      await sleep(delay);
    }
  };

  const client = new Client(
    { name: "official", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } }, capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => {
    if (params.mode === "url") throw new Error("no page was to be opened");
    return { action: "accept", content: { ...person(Object.keys(params.requestedSchema.properties)) } };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: persist }));
  return {
    async play(attempt) {
      order = attempt.order;
      person = createPerson(attempt.plan.answers, counts);
      try {
        const request = { name: attempt.plan.tool, arguments: { ...attempt.args } };
        return readEnding((await client.callTool(request, { timeout: 2 * PATIENCE_MS })) as ToolResult);
      } catch (error) {
        return readOfficialFailure(error);
      }
    },
    close: () => client.close(),
  };
}

/** Errors of the wire are of a class of its own there. */
function readOfficialFailure(error: unknown): Ending {
  const data = error instanceof Error && "data" in error ? error.data : undefined;
  const reason = typeof data === "object" && data !== null && "reason" in data ? data.reason : undefined;
  if (reason === "state_refused" || reason === "state_expired") return { type: "refused" };
  return readFailure(error);
}
