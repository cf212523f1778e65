import {
  type AuthInfo,
  type CallToolResult,
  Server as OfficialServer,
  ProtocolError,
  type RequestMethod,
  type Result,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
import {
  type ClientCapabilities,
  checkOptions,
  ErrorCode,
  isObject,
  type LoggingLevel,
  META,
  type OptionNames,
  PROTOCOL_VERSION,
  type ServerCapabilities,
  type SubscriptionFilter,
  VolleyError,
} from "../protocol/index.ts";
import { type Core, coreOf, type Reply, type Server } from "../server/index.ts";
import { ANONYMOUS, type Principal, readPrincipal } from "../state/index.ts";
import { type Notice, SessionCall } from "./session-call.ts";

export interface LegacyServerOptions {
  /**
   * Says who is calling, from what the transport's own check of the token found; undefined over stdio. Undefined, a throw, or
   * what is no principal refuses the request. Default: everybody is anonymous, which a server with `authenticate` does not allow.
   */
  readonly principal?: (auth: AuthInfo | undefined) => Principal | undefined | Promise<Principal | undefined>;
  /** How long a person may take for one question, in milliseconds. Default 10 minutes; a tool's `ttlMs` may be shorter. */
  readonly answerTimeoutMs?: number;
}

const OPTIONS: OptionNames<LegacyServerOptions> = { principal: true, answerTimeoutMs: true };

/**
 * Makes an official `Server` for one connection or session of a client of 2025-11-25 or earlier, with everything that is
 * registered; its author connects it to any official transport.
 *
 * A handler's questions are asked over the open connection, and its next round is played in the same process: at most
 * eight rounds a call, those without a question included. What is sealed between them is kept in memory until the call ends.
 *
 * @throws VolleyError `invalid_options` where the server has `authenticate` and `principal` is not given
 * @example
 * ```ts
 * import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
 * import { createLegacyServer } from "volley-mcp/bridge";
 * await createLegacyServer(server).connect(new StdioServerTransport());
 * ```
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 */
export function createLegacyServer(server: Server, options: LegacyServerOptions = {}): OfficialServer {
  checkOptions("createLegacyServer", options, OPTIONS);
  return new LegacyServer(coreOf(server), options);
}

/** The methods that the core answers under the same name, by the capability that they need. */
const METHODS: Readonly<Record<string, readonly RequestMethod[]>> = {
  tools: ["tools/list", "tools/call"],
  prompts: ["prompts/list", "prompts/get"],
  resources: ["resources/list", "resources/templates/list", "resources/read"],
  completions: ["completion/complete"],
};

class LegacyServer extends OfficialServer {
  readonly #core: Core;
  readonly #principalOf: NonNullable<LegacyServerOptions["principal"]>;
  // A client that says nothing about logs leaves it to the server.
  #logLevel: LoggingLevel = "info";
  /** What this session has subscribed to, beside the lists. */
  readonly #uris = new Set<string>();
  /** One stream for all of it, opened anew when it changes. */
  #stream: SessionCall | undefined;
  /** How far a call has come: every round reports from the start, and progress must rise. */
  readonly #progress = new WeakMap<AbortSignal, number>();

  constructor(core: Core, { principal, answerTimeoutMs = 10 * 60_000 }: LegacyServerOptions) {
    const { info, instructions, authenticate } = core.settings;
    if (authenticate && !principal) {
      throw new VolleyError(
        "invalid_options",
        "This server has `authenticate`, so createLegacyServer needs `principal`: who is calling, by what the SDK's transport " +
          "knows of them (`authInfo`).",
      );
    }
    if (!(answerTimeoutMs > 0 && answerTimeoutMs < 2 ** 31)) {
      throw new VolleyError(
        "invalid_options",
        "answerTimeoutMs must be a number of milliseconds above 0 and below 2^31.",
      );
    }
    const { extensions: _, ...capabilities } = core.catalog.capabilities();
    super(info, {
      capabilities,
      inputRequired: { maxRounds: 8, roundTimeoutMs: answerTimeoutMs },
      ...(instructions === undefined ? {} : { instructions }),
    });
    core.serving = true;
    this.#core = core;
    this.#principalOf = principal ?? (() => ANONYMOUS);
    this.#register(capabilities);
  }

  /** Attaches to the given transport, and ends this session's subscriptions when it closes. */
  override async connect(transport: Transport): Promise<void> {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      this.#stream?.drop(ENDED);
    };
    await super.connect(transport);
  }

  #register(capabilities: ServerCapabilities): void {
    for (const [capability, methods] of Object.entries(METHODS)) {
      if (!Object.hasOwn(capabilities, capability)) continue;
      for (const method of methods) {
        this.setRequestHandler(method, ({ params }, ctx) => this.#play(method, { ...params }, ctx) as Promise<never>);
      }
    }
    if (capabilities.logging) {
      this.setRequestHandler("logging/setLevel", ({ params }) => {
        this.#logLevel = params.level;
        return {};
      });
    }
    if (capabilities.resources) {
      this.setRequestHandler("resources/subscribe", async ({ params: { uri } }, ctx) => {
        await this.#identify(ctx);
        this.#uris.add(uri);
        try {
          await this.#listen();
        } catch (error) {
          this.#uris.delete(uri);
          throw error;
        }
        return {};
      });
      this.setRequestHandler("resources/unsubscribe", async ({ params: { uri } }) => {
        this.#uris.delete(uri);
        await this.#listen();
        return {};
      });
    }
    this.setNotificationHandler("notifications/initialized", async () => {
      this.oninitialized?.();
      await this.#listen();
    });
  }

  async #identify({ http }: ServerContext): Promise<Principal> {
    try {
      const given: unknown = await this.#principalOf(http?.authInfo);
      if (given) return readPrincipal(given, "principal");
    } catch (error) {
      // The SDK would send its message on. As for `authenticate`: the caller is refused, and the operator sees why.
      this.#core.settings.trace({ type: "fault", target: "principal", error });
    }
    throw new ProtocolError(ErrorCode.InvalidRequest, "Authentication is required.");
  }

  /** One round: the client's request, with what the SDK has kept and asked since the last one, as a message to the core. */
  async #play(method: RequestMethod, params: Record<string, unknown>, ctx: ServerContext): Promise<Result> {
    const { signal, inputResponses, requestState } = ctx.mcpReq;
    // Sessions are spread over processes only by HTTP.
    if (ctx.http) this.#core.mayBeMany = true;
    // Tasks of that revision are another protocol's.
    const { task: _, ...asked } = params;
    const state = requestState();
    const call = new SessionCall(await this.#identify(ctx), (notice) => this.#forward(notice, ctx));
    const unfollow = call.follow(signal);
    try {
      signal.throwIfAborted();
      const message = this.#message(method, {
        ...asked,
        ...(inputResponses === undefined ? {} : { inputResponses }),
        ...(state === undefined ? {} : { requestState: state }),
        _meta: { ...ctx.mcpReq._meta, ...this.#meta() },
      });
      const reply = await this.#core.receive(message, call);
      return method === "tools/call" ? this.#toolResult(String(params.name), reply) : readReply(reply);
    } finally {
      call.done = true;
      unfollow();
    }
  }

  #message(method: string, params: Record<string, unknown>): string {
    return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  }

  #meta(): Record<string, unknown> {
    const { elicitation, sampling, roots } = this.getClientCapabilities() ?? {};
    const info = this.getClientVersion();
    return {
      [META.protocolVersion]: PROTOCOL_VERSION,
      [META.clientCapabilities]: { elicitation, sampling, roots } satisfies {
        [K in keyof ClientCapabilities]: unknown;
      },
      ...(info === undefined ? {} : { [META.clientInfo]: { name: info.name, version: info.version } }),
      [META.logLevel]: this.#logLevel,
    };
  }

  async #forward({ method, params }: Notice, ctx: ServerContext): Promise<void> {
    const { signal, notify } = ctx.mcpReq;
    if (method === "notifications/progress") {
      const progress = Number(params.progress);
      if (progress <= (this.#progress.get(signal) ?? Number.NEGATIVE_INFINITY)) return;
      this.#progress.set(signal, progress);
    }
    await notify({ method, params });
  }

  #toolResult(name: string, reply: Reply): Result {
    try {
      const result = readReply(reply);
      if (result.structuredContent === undefined) return result;
      // That revision knows objects alone; the SDK wraps others, and lists their schemas so.
      const listed: unknown = JSON.parse(this.#core.registry.tools.get(name)?.listing ?? "{}");
      const schema = isObject(listed) && isObject(listed.outputSchema) ? listed.outputSchema : undefined;
      return this.projectCallToolResult(result as CallToolResult, schema);
    } catch (error) {
      const missing = error instanceof ProtocolError ? missingInput(error) : undefined;
      if (missing === undefined) throw error;
      return { content: [{ type: "text", text: missing }], isError: true };
    }
  }

  /** Opens the stream of changes, in place of the one before. */
  async #listen(): Promise<void> {
    this.#stream?.drop(ENDED);
    // The session may have ended while somebody looked who is calling.
    if (this.transport === undefined) return;
    const notifications: SubscriptionFilter = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: [...this.#uris],
    };
    await new Promise<void>((resolve, reject) => {
      const call = new SessionCall(ANONYMOUS, async ({ method, params }) => {
        if (method === "notifications/subscriptions/acknowledged") resolve();
        else if (method.endsWith("/list_changed")) await this.notification({ method });
        else if (method === "notifications/resources/updated") {
          await this.notification({ method, params: { uri: params.uri } });
        }
      });
      this.#stream = call;
      const message = this.#message("subscriptions/listen", { notifications, _meta: this.#meta() });
      Promise.resolve(this.#core.receive(message, call))
        .then(readReply)
        .then(() => resolve(), reject);
    });
  }
}

const ENDED = new VolleyError("closed", "The session ended, or listens to something else now.");

/** A result in the older shape, one that asks for more as it is, or the error as the SDK sends it. */
function readReply({ body = "{}" }: Reply): Result {
  const { result, error } = JSON.parse(body);
  if (error) throw new ProtocolError(error.code, error.message, error.data);
  if (result.resultType === "input_required") return result;
  const { resultType: _, ttlMs: _ttl, cacheScope: _scope, _meta, ...rest } = result;
  const { [META.serverInfo]: _info, ...meta } = _meta ?? {};
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}

/** A question that this client cannot be asked: that revision has no error code for it, so the model is told. */
function missingInput({ code, message, data }: ProtocolError): string | undefined {
  if (code !== ErrorCode.MissingRequiredClientCapability || !isObject(data)) return undefined;
  const { requiredCapabilities: required } = data;
  return isObject(required) && !required.extensions ? message : undefined;
}
