import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ANSWER, type Connect } from "./client.ts";

export const connect: Connect = async (url) => {
  const client = new Client(
    { name: "bench", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { ...ANSWER } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    async call(id): Promise<string> {
      const { content } = await client.callTool({ name: "resolve_bug", arguments: { id } });
      const block = content[0];
      return block?.type === "text" ? block.text : "";
    },
  };
};
