import { type Context, createRounds, type RoundServices } from "../flow/index.ts";
import { createMemoryLedger } from "../ledger/index.ts";
import { VolleyError } from "../protocol/index.ts";
import { createSealer } from "../state/index.ts";
import { createAllowance } from "./allowance.ts";
import type {
  ArgumentsOf,
  GivenToolOptions,
  Known,
  PromptHandler,
  PromptOptions,
  ResourceHandler,
  StaticResourceOptions,
  TemplateHandler,
  TemplateOptions,
  ToolOptions,
  ToolReturn,
} from "./author.ts";
import { Core } from "./core.ts";
import { createEventBus, type ListEvent } from "./events.ts";
import { createFetch } from "./fetch.ts";
import { createHttp } from "./http.ts";
import { resolveOptions, type ServerOptions } from "./options.ts";
import { promptEntry, resourceEntry, templateEntry, toolEntry } from "./register.ts";
import { add } from "./registry.ts";
import { createResults } from "./results.ts";

/** Something that was registered. */
export interface Registered {
  /** Takes it back and tells listening clients. Requests that run go on. */
  remove(): void;
}

/** A server: what was registered, and the ways to serve it. Its parts may be registered at any time. */
export interface Server {
  /**
   * Registers a tool.
   *
   * @param handler runs again from its first line in every round; see {@link Context}. What it throws is told to the caller
   * where it was written for the caller, as a {@link ToolError} is; of any other error the caller gets a reference
   * @throws VolleyError `registration_invalid`
   * @example
   * ```ts
   * server.tool("add", { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => `${a + b}`);
   * ```
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
   */
  tool<const Options extends GivenToolOptions, const Return extends ToolReturn<Options>>(
    name: string,
    options: Known<Options, ToolOptions>,
    handler: (args: ArgumentsOf<Options["input"]>, ctx: Context) => Return | Promise<Return>,
  ): Registered;

  /**
   * Registers a prompt.
   *
   * @throws VolleyError `registration_invalid`
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
   */
  prompt<Arguments = Record<string, never>>(
    name: string,
    options: PromptOptions<Arguments>,
    handler: PromptHandler<NoInfer<Arguments>>,
  ): Registered;

  /**
   * Registers a resource under its URI.
   *
   * @throws VolleyError `registration_invalid`
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
   */
  resource(name: string, uri: string, options: StaticResourceOptions, handler: ResourceHandler): Registered;

  /**
   * Registers the resources of an RFC 6570 template. Variables come decoded and are a peer's data: a path may hold `..`.
   *
   * @throws VolleyError `registration_invalid`
   * @example
   * ```ts
   * server.resourceTemplate("item", "tracker://items/{id}", {}, ({ id }) => tracker.find(id)?.text);
   * ```
   */
  resourceTemplate<const Template extends string>(
    name: string,
    template: Template,
    options: TemplateOptions,
    handler: TemplateHandler<Template>,
  ): Registered;

  /** Tells listening clients that the list of tools is another one. Registering and removing say so by themselves. */
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  /** Tells clients that watch this resource to read it again. */
  resourceUpdated(uri: string): void;

  /**
   * Answers a request of any runtime with the fetch API.
   *
   * Reading it throws VolleyError `keys_missing` or `invalid_options` for a set-up that would not be safe over HTTP.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
   */
  readonly fetch: (request: Request) => Promise<Response>;

  /** Ends subscriptions, waits up to `graceMs` (default 5,000) for running requests, then tells their handlers to stop. */
  close(graceMs?: number): Promise<void>;
}

// Tools, Tool Names: others are allowed, but should not be used.
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const UNUSUAL_NAME =
  "a tool's name should be 1 to 128 of the letters A-Z and a-z, digits, _, - and . alone: some clients refuse any other.";

// By its global name, so that the subpaths of this package find it whatever a bundler did to them.
const CORE = Symbol.for("volley-mcp.core");

/** The core of a server, for transports. */
export function coreOf(server: Server): Core {
  return (server as unknown as { readonly [CORE]: Core })[CORE];
}

/**
 * Makes a server.
 *
 * @throws VolleyError `invalid_options`, `keys_invalid`
 * @example
 * ```ts
 * const server = createServer({ name: "tracker", version: "1.0.0", singleInstance: true });
 * server.tool("hello", {}, () => "Hello.");
 * ```
 */
export function createServer(options: ServerOptions): Server {
  const settings = resolveOptions(options);
  const { keyring, audience, clock, random, trace, development } = settings;
  const ledger = options.ledger ?? createMemoryLedger({ now: () => clock.now() });
  const bus = options.bus ?? createEventBus();
  const sealer = createSealer({ keyring, audience });
  const allowance = createAllowance(settings);
  const tasks = options.tasks?.attach(settings, createResults({ ...settings.info }));
  const services: RoundServices = {
    sealer,
    keyring,
    ledger,
    clock,
    random,
    trace,
    traceRounds: options.trace !== undefined,
    development,
    tasks: tasks?.starter,
    shedding: options.shedding,
    admitEffect: allowance.effect,
    requireShared: () => {
      if (core.mayBeMany && !ledger.shared && options.singleInstance !== true) throw unshared();
    },
  };
  const core = new Core(settings, createRounds(services), allowance, bus, tasks);
  const { registry, catalog } = core;
  let handle: ((request: Request) => Promise<Response>) | undefined;

  const pending = new Set<ListEvent>();
  const announce = (type: ListEvent): void => {
    // Before anybody was served, registering is no change; a burst of registrations is one.
    if (!core.serving || pending.has(type)) return;
    pending.add(type);
    queueMicrotask(() => {
      pending.delete(type);
      bus.publish({ type });
    });
  };
  const register = <T>(entries: Map<string, T>, kind: string, key: string, entry: T, type: ListEvent): Registered => {
    add(entries, kind, key, entry);
    catalog.invalidate();
    announce(type);
    return {
      remove() {
        if (entries.get(key) !== entry) return;
        entries.delete(key);
        catalog.invalidate();
        announce(type);
      },
    };
  };

  const server: Server = {
    tool(name, options, handler) {
      const entry = toolEntry(name, options as ToolOptions, handler);
      const registered = register(registry.tools, "tool", name, entry, "tools_changed");
      if (!TOOL_NAME.test(name)) trace({ type: "warning", target: `tool "${name}"`, message: UNUSUAL_NAME });
      return registered;
    },
    prompt: (name, options, handler) =>
      register(registry.prompts, "prompt", name, promptEntry(name, options, handler), "prompts_changed"),
    resource: (name, uri, options, handler) =>
      register(registry.resources, "resource", uri, resourceEntry(name, uri, options, handler), "resources_changed"),
    resourceTemplate: (name, template, options, handler) =>
      register(
        registry.templates,
        "resource template",
        template,
        templateEntry(name, template, options, handler),
        "resources_changed",
      ),
    toolsChanged: () => bus.publish({ type: "tools_changed" }),
    promptsChanged: () => bus.publish({ type: "prompts_changed" }),
    resourcesChanged: () => bus.publish({ type: "resources_changed" }),
    resourceUpdated: (uri) => bus.publish({ type: "resource_updated", uri }),
    get fetch() {
      handle ??= createFetch(createHttp(core));
      return handle;
    },
    async close(graceMs = 5_000) {
      await core.close(graceMs);
      await bus.close?.();
      await ledger.close?.();
      await settings.rateLimiter.close?.();
    },
  };
  Object.defineProperty(server, CORE, { value: core });
  return server;
}

/** What handlers do cannot be known before they do it, so this is said by the first that needs the record. */
function unshared(): VolleyError {
  return new VolleyError(
    "invalid_options",
    "`once` and `singleUse` need a record that every process of this service shares, and this server's is in the memory of " +
      "one. Give createServer a `ledger` (volley-mcp/ledger/sqlite, /redis or /postgres), or say `singleInstance: true` " +
      "when this is the only process.",
  );
}
