/**
 * The official SDK as a careful author serves it: schemas and forms made once outside the factory, only the tools that
 * are needed registered, its own codec with a binding, JSON responses, older clients refused.
 */
import { randomBytes } from "node:crypto";
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from "@modelcontextprotocol/node";
import {
  acceptedContent,
  type CallToolResult,
  createMcpHandler,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  McpServer,
} from "@modelcontextprotocol/server";
import { listen, options } from "./serve.ts";
import {
  AddInput,
  BugInput,
  CORE_TOOLS,
  DESCRIPTIONS,
  fillers,
  ORIGINAL_FORM,
  Original,
  RESOLUTION_FORM,
  Resolution,
  text,
} from "./tools.ts";

interface State {
  readonly id: number;
  readonly resolution?: string;
}

const codec = createRequestStateCodec<State>({
  key: randomBytes(32),
  ttlSeconds: 600,
  bind: (ctx) => `${ctx.mcpReq.method}\0${ctx.http?.authInfo?.clientId ?? ""}`,
});

const info = { name: "bench", version: "1.0.0" };
const serverOptions = { capabilities: { tools: {} }, requestState: { verify: codec.verify } };
const add = { description: DESCRIPTIONS.add, inputSchema: AddInput };
const resolveBug = { description: DESCRIPTIONS.resolve_bug, inputSchema: BugInput };
const resolveDuplicate = { description: DESCRIPTIONS.resolve_duplicate, inputSchema: BugInput };
const rest = fillers(options().tools - CORE_TOOLS).map(({ name, title, description, input }) => ({
  name,
  config: { title, description, inputSchema: input },
}));

function complete(value: string): CallToolResult {
  return { content: [{ type: "text", text: value }] };
}

function factory(): McpServer {
  const server = new McpServer(info, serverOptions);
  server.registerTool("add", add, ({ a, b }) => complete(String(a + b)));
  server.registerTool("resolve_bug", resolveBug, async ({ id }, ctx): Promise<CallToolResult | InputRequiredResult> => {
    const state = ctx.mcpReq.requestState<State>();
    const answer = state?.id === id ? acceptedContent(ctx.mcpReq.inputResponses, "resolution", Resolution) : undefined;
    if (answer !== undefined) return complete(text.closed(id, answer.resolution));
    return inputRequired({
      inputRequests: {
        resolution: inputRequired.elicit({ message: text.howResolved(id), requestedSchema: RESOLUTION_FORM }),
      },
      requestState: await codec.mint({ id }, ctx),
    });
  });
  server.registerTool(
    "resolve_duplicate",
    resolveDuplicate,
    async ({ id }, ctx): Promise<CallToolResult | InputRequiredResult> => {
      const given = ctx.mcpReq.requestState<State>();
      const state = given?.id === id ? given : undefined;
      const answers = state === undefined ? undefined : ctx.mcpReq.inputResponses;
      const resolution = state?.resolution ?? acceptedContent(answers, "resolution", Resolution)?.resolution;
      if (resolution === undefined) {
        return inputRequired({
          inputRequests: {
            resolution: inputRequired.elicit({ message: text.howResolved(id), requestedSchema: RESOLUTION_FORM }),
          },
          requestState: await codec.mint({ id }, ctx),
        });
      }
      const original = acceptedContent(answers, "original", Original)?.original;
      if (original !== undefined) return complete(text.duplicate(id, resolution, original));
      return inputRequired({
        inputRequests: {
          original: inputRequired.elicit({ message: text.whichOriginal(id), requestedSchema: ORIGINAL_FORM }),
        },
        requestState: await codec.mint({ id, resolution }, ctx),
      });
    },
  );
  for (const { name, config } of rest) server.registerTool(name, config, () => complete("done"));
  return server;
}

const handler = toNodeHandler(createMcpHandler(factory, { responseMode: "json", legacy: "reject" }));
/** node:http's own request, as the SDK's types describe it under exactOptionalPropertyTypes. */
type NodeRequest = Parameters<typeof handler>[0];
const hostAllowed = localhostHostValidation();
const originAllowed = localhostOriginValidation();

listen((request, response) => {
  if (hostAllowed(request, response) && originAllowed(request, response))
    void handler(request as NodeRequest, response);
});
