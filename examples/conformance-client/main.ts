/**
 * The client that the official conformance suite drives: `MCP_CONFORMANCE_SCENARIO=tools_call node main.ts URL`.
 *
 * Each scenario is a server of the suite that watches what a client does; here is what a host would do with it.
 */
import { type Client, connect } from "../../src/client.ts";

type Play = (client: Client) => Promise<unknown>;

const scenarios = new Map<string, Play>([
  ["tools_call", (client) => client.callTool("add_numbers", { a: 5, b: 3 })],
  ["request-metadata", (client) => client.listTools()],
  ["sep-2322-client-request-state", playRounds],
  ["http-standard-headers", playEverything],
  ["http-custom-headers", playContext],
  ["http-invalid-tool-headers", playListedTools],
  ["json-schema-ref-no-deref", (client) => client.listTools()],
  ["json-schema-2020-12-preservation", echoSchema],
]);

await main(process.env.MCP_CONFORMANCE_SCENARIO ?? "", process.argv.at(-1) ?? "");

async function main(scenario: string, url: string): Promise<void> {
  const play = scenarios.get(scenario);
  if (play === undefined) {
    console.error(`No such scenario here: "${scenario}". There are: ${[...scenarios.keys()].join(", ")}.`);
    process.exitCode = 1;
    return;
  }
  const client: Client = await connect(url, {
    clientInfo: { name: "volley-conformance-client", version: "1.0.0" },
    form: async (ask) => {
      if (scenario === "sep-2322-client-request-state") await client.callTool("test_mrtr_unrelated", {});
      return { action: "accept", content: { ...ask.defaults, confirmed: true } };
    },
    sampling: () => ({
      role: "assistant",
      model: "none",
      content: { type: "text", text: "There is no model behind this client." },
    }),
    roots: () => [{ uri: "file:///srv/project", name: "project" }],
    onWarning: (message) => console.error(message),
  });
  try {
    await play(client);
  } finally {
    await client.close();
  }
}

/** Two flows, one with state and one without, a call of another tool in the middle, and a result without a type. */
async function playRounds(client: Client): Promise<void> {
  for (const tool of ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_no_result_type"]) {
    await client.callTool(tool, {});
  }
}

async function playEverything(client: Client): Promise<void> {
  for (const tool of await client.listTools()) await client.callTool(tool.name, {});
  for (const resource of await client.listResources()) await client.readResource(resource.uri);
  for (const prompt of await client.listPrompts()) await client.getPrompt(prompt.name);
}

/** The suite says which tools to call with what. */
async function playContext(client: Client): Promise<void> {
  const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as {
    toolCalls?: { name: string; arguments: Record<string, unknown> }[];
  };
  for (const call of context.toolCalls ?? []) await client.callTool(call.name, call.arguments);
}

async function playListedTools(client: Client): Promise<void> {
  for (const tool of await client.listTools()) await client.callTool(tool.name, { region: "us-west1" });
}

async function echoSchema(client: Client): Promise<void> {
  const tool = (await client.listTools()).find(({ name }) => name === "json_schema_2020_12_tool");
  await client.callTool("json_schema_echo", { schema: tool?.inputSchema });
}
