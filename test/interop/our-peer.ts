import { connect, type SubscriptionEvent } from "../../src/client.ts";
import { answerTo, MODEL_SAYS, type Peer, ROOT, type Target } from "./peer.ts";

/** Our client, with a handler for every kind of question. */
export async function ourPeer(target: Target): Promise<Peer> {
  const asked: string[] = [];
  const at =
    target.transport === "http"
      ? target.url
      : { command: target.command, args: target.args, stderr: "ignore" as const };
  const client = await connect(at, {
    clientInfo: { name: "ours", version: "1.0.0" },
    form({ fields }) {
      const names = fields.map(({ name }) => name);
      asked.push(`form ${names.join(" ")}`);
      return { action: "accept", content: answerTo(names) };
    },
    url({ url }) {
      asked.push(`url ${url}`);
      return "accept";
    },
    sampling({ messages }) {
      const content = messages.at(-1)?.content;
      asked.push(`sampling ${content !== undefined && "text" in content ? content.text : ""}`);
      return { role: "assistant", model: "none", content: { type: "text", text: MODEL_SAYS } };
    },
    roots() {
      asked.push("roots");
      return [{ uri: ROOT, name: "project" }];
    },
  });

  return {
    asked,
    tools: async () => (await client.listTools()).map(({ name }) => name),
    async call(name, args = {}, { signal, onProgress, logLevel, onLog } = {}) {
      const result = await client.callTool(name, args, {
        ...(signal === undefined ? {} : { signal }),
        ...(onProgress === undefined ? {} : { onProgress: ({ progress }) => onProgress(progress) }),
        ...(logLevel === undefined ? {} : { logLevel, onLog: ({ data }) => onLog?.(String(data)) }),
      });
      return {
        text: result.content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n"),
        isError: result.isError === true,
        structured: result.structuredContent,
      };
    },
    prompts: async () => (await client.listPrompts()).map(({ name }) => name),
    async prompt(name, args) {
      const { messages } = await client.getPrompt(name, args);
      return messages.map(({ content }) => (content.type === "text" ? content.text : content.type)).join("\n");
    },
    resources: async () => (await client.listResources()).map(({ uri }) => uri),
    async read(uri) {
      const { contents } = await client.readResource(uri);
      return contents.map((content) => ("text" in content ? content.text : content.blob)).join("\n");
    },
    templates: async () => (await client.listResourceTemplates()).map(({ uriTemplate }) => uriTemplate),
    complete: async (ref, name, value) => (await client.complete(ref, { name, value })).values,
    async listen(filter, heard) {
      const subscription = client.subscribe(filter);
      await subscription.next(); // the acknowledgement
      const reading = (async () => {
        for await (const event of subscription) heard(...inWireWords(event));
      })();
      return async () => {
        subscription.close();
        await reading;
      };
    },
    close: () => client.close(),
  };
}

function inWireWords(event: SubscriptionEvent): [string, Record<string, unknown>] {
  switch (event.type) {
    case "tools_changed":
      return ["notifications/tools/list_changed", {}];
    case "prompts_changed":
      return ["notifications/prompts/list_changed", {}];
    case "resources_changed":
      return ["notifications/resources/list_changed", {}];
    case "resource_updated":
      return ["notifications/resources/updated", { uri: event.uri }];
    default:
      return [event.type, {}];
  }
}
