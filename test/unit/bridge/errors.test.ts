import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { createLegacyServer, type LegacyServerOptions } from "../../../src/bridge.ts";
import { ToolError, type TraceEvent } from "../../../src/index.ts";
import type { Server } from "../../../src/server/index.ts";
import { create } from "../server/harness.ts";

const CAUSE = new Error("connect ECONNREFUSED postgres://app:hunter2@db/x");

interface Shop {
  readonly server: Server;
  readonly faults: TraceEvent[];
}

function shop(): Shop {
  const faults: TraceEvent[] = [];
  const trace = (event: TraceEvent): void => {
    if (event.type === "fault") faults.push(event);
  };
  const server = create({ trace, random: (bytes) => new Uint8Array(bytes).fill(0xa1) });
  server.tool("breaks", {}, () => {
    throw CAUSE;
  });
  server.tool("says", {}, () => {
    throw new ToolError("There is no bug #7.");
  });
  server.prompt("breaks", {}, () => {
    throw CAUSE;
  });
  return { server, faults };
}

async function older(server: Server, options: LegacyServerOptions = {}): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await createLegacyServer(server, options).connect(ours);
  const client = new Client({ name: "older", version: "1.0.0" });
  await client.connect(theirs);
  return client;
}

test("rule 10, V2: an older client hears what any caller does", async () => {
  const { server, faults } = shop();
  const client = await older(server);
  expect(await client.callTool({ name: "breaks" })).toEqual({
    content: [{ type: "text", text: 'The tool "breaks" failed. Reference: a1a1a1a1.' }],
    isError: true,
  });
  expect(await client.callTool({ name: "says" })).toEqual({
    content: [{ type: "text", text: "There is no bug #7." }],
    isError: true,
  });
  await expect(client.getPrompt({ name: "breaks" })).rejects.toMatchObject({
    code: -32603,
    message: expect.stringMatching(/The prompt failed\. Reference: a1a1a1a1\.$/),
  });
  const fault = { type: "fault", target: "breaks", error: CAUSE, reference: "a1a1a1a1" };
  expect(faults).toEqual([fault, fault]);
  await client.close();
});

test("rule 10, V2: what `principal` throws refuses the caller, and stays with the operator", async () => {
  const { server, faults } = shop();
  const client = await older(server, {
    principal() {
      throw CAUSE;
    },
  });
  await expect(client.callTool({ name: "says" })).rejects.toMatchObject({
    code: -32600,
    message: expect.stringMatching(/Authentication is required\.$/),
  });
  expect(faults).toEqual([{ type: "fault", target: "principal", error: CAUSE }]);
  await client.close();
});
