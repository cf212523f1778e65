import {
  type CallToolResult,
  Client,
  type ReadResourceResult,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { answerTo, MODEL_SAYS, type Peer, ROOT, type Target } from "./peer.ts";

/** The official client as it comes: it answers by itself, ten rounds at most. `"legacy"`: as a client of 2025-11-25. */
export async function officialPeer(
  target: Target,
  mode: "legacy" | { readonly pin: string } = { pin: "2026-07-28" },
): Promise<Peer> {
  const asked: string[] = [];
  const client = new Client(
    { name: "official", version: "1.0.0" },
    {
      versionNegotiation: { mode },
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => {
    if (params.mode === "url") {
      asked.push(`url ${params.url}`);
      return { action: "accept" };
    }
    const fields = Object.keys(params.requestedSchema.properties);
    asked.push(`form ${fields.join(" ")}`);
    return { action: "accept", content: answerTo(fields) };
  });
  client.setRequestHandler("sampling/createMessage", ({ params }) => {
    const content = params.messages.at(-1)?.content;
    asked.push(`sampling ${content !== undefined && "text" in content ? content.text : ""}`);
    return { role: "assistant", model: "none", content: { type: "text", text: MODEL_SAYS } };
  });
  client.setRequestHandler("roots/list", () => {
    asked.push("roots");
    return { roots: [{ uri: ROOT, name: "project" }] };
  });
  await client.connect(
    target.transport === "http"
      ? new StreamableHTTPClientTransport(new URL(target.url))
      : new StdioClientTransport({ command: target.command, args: [...target.args], stderr: "ignore" }),
  );

  return {
    asked,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, args = {}, { signal, onProgress, logLevel, onLog } = {}) {
      client.setNotificationHandler("notifications/message", ({ params }) => onLog?.(String(params.data)));
      const result = await client.callTool(
        {
          name,
          arguments: args,
          ...(logLevel === undefined ? {} : { _meta: { "io.modelcontextprotocol/logLevel": logLevel } }),
        },
        {
          ...(signal === undefined ? {} : { signal }),
          ...(onProgress === undefined ? {} : { onprogress: ({ progress }) => onProgress(progress) }),
        },
      );
      return {
        text: textOf(result),
        isError: result.isError === true,
        structured: result.structuredContent,
      };
    },
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    async prompt(name, args) {
      const { messages } = await client.getPrompt({ name, ...(args === undefined ? {} : { arguments: args }) });
      return messages.map(({ content }) => (content.type === "text" ? content.text : content.type)).join("\n");
    },
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    read: async (uri) => contentsOf(await client.readResource({ uri })),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    complete: async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values,
    async listen(filter, heard) {
      for (const method of CHANGES) {
        client.setNotificationHandler(method, ({ params }) => heard(method, params ?? {}));
      }
      const subscription = await client.listen(filter);
      return () => subscription.close();
    },
    close: () => client.close(),
  };
}

const CHANGES = [
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
  "notifications/resources/updated",
] as const;

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n");
}

function contentsOf({ contents }: ReadResourceResult): string {
  return contents.map((content) => ("text" in content ? content.text : content.blob)).join("\n");
}
