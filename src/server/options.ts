import { type Clock, type LoadMonitor, systemClock, type Trace } from "../flow/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { Icon, Implementation } from "../protocol/index.ts";
import { checkOptions, type OptionNames, VolleyError } from "../protocol/index.ts";
import { createKeyring, keyringFromEnv, type Principal, randomFromPool, randomKeyring } from "../state/index.ts";
import {
  type AllowanceLimits,
  type AllowanceSettings,
  createMemoryRateLimiter,
  type RateLimiter,
} from "./calls/allowance.ts";
import type { CatalogSettings } from "./catalog/catalog.ts";
import { CACHE_HINT } from "./catalog/entry-options.ts";
import type { CacheHint } from "./catalog/registry.ts";
import type { EventBus } from "./changes/events.ts";
import type { ListenSettings, StreamLimits } from "./changes/listen.ts";
import type { CorsOptions, HttpLimits, HttpSettings } from "./http/settings.ts";
import type { HeaderReader } from "./message/call.ts";
import type { ErrorPolicy } from "./message/error-policy.ts";
import { createReporter } from "./report.ts";
import type { TaskLimits, TaskService, TaskSettings } from "./task-service.ts";

/** What a server refuses to do more of. Each has a safe default; a refusal is HTTP 413, 408, 431 or 429. */
export interface Limits extends HttpLimits, StreamLimits, AllowanceLimits, TaskLimits {
  /** Requests that run at the same time, `subscriptions/listen` apart. Default 1,000. */
  readonly inFlight?: number;
}

export interface ServerOptions {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly websiteUrl?: string;
  /** How to use the server, for a model to read. */
  readonly instructions?: string;
  /**
   * Keys from `volley keygen`: the first seals, all open. Default: the environment's `VOLLEY_KEYS`.
   * Without any a random key serves this process alone, which over HTTP has to be confirmed by `singleInstance`.
   */
  readonly keys?: readonly string[];
  /** The URL of this service. Needed over HTTP with keys: a state sealed for one service must not open at another. */
  readonly audience?: string;
  /** True when no other process serves the same clients. */
  readonly singleInstance?: boolean;
  /**
   * Says who is calling. Undefined, a throw, or what is no principal refuses the request with 401; the last two are traced as
   * a `fault`. Fields that a principal does not have are dropped. Default: everybody is anonymous.
   */
  readonly authenticate?: (request: HeaderReader) => Principal | undefined | Promise<Principal | undefined>;
  /** The `WWW-Authenticate` header of a 401. Default `Bearer`. */
  readonly challenge?: string;
  /** Origins whose pages may call (`"*"`: all). Default: pages of this machine, or none once `allowedHosts` is given. */
  readonly allowedOrigins?: readonly string[];
  /** Host names, with or without a port, under which this server is called (`"*"`: all). Default: `localhost` and its addresses. */
  readonly allowedHosts?: readonly string[];
  /** How allowed origins may call from a browser; false: not at all. */
  readonly cors?: CorsOptions | false;
  readonly limits?: Limits;
  /** Counts what callers take. Default: in the memory of this process, so that each instance grants the whole limit. */
  readonly rateLimiter?: RateLimiter;
  /**
   * Where `once` keeps its record. Default: the memory of this process, which over HTTP and in workers `once` refuses to
   * use unless `singleInstance` says that there is no other.
   */
  readonly ledger?: Ledger;
  /** Lets tools go on as tasks: `createTasks` of volley-mcp/tasks. Default: none. */
  readonly tasks?: TaskService;
  /** Says when flows should go on elsewhere: `createLoadMonitor` of volley-mcp/node. Default: never. */
  readonly shedding?: LoadMonitor;
  /** Carries change notifications between instances. Default: within this process. */
  readonly bus?: EventBus;
  readonly clock?: Clock;
  /** Random bytes. Default: the platform's cryptographic source. */
  readonly random?: (bytes: number) => Uint8Array;
  /** Receives what happens inside. Default: faults, warnings, and what an operator can mend go to `console.error`. */
  readonly trace?: Trace;
  /**
   * Whether callers get the messages of errors that were not written for them: `"hide"` gives them a sentence and a
   * reference, under which the trace has the error. Default `"show"` in development, else `"hide"`; see docs/errors.md.
   */
  readonly errors?: "show" | "hide";
  /** Warns about what will hurt later, shows errors, and reports each event. Default: whether `NODE_ENV` is `development`. */
  readonly development?: boolean;
  /** For lists and discovery. Default one minute, `"public"`, or `"private"` when callers are authenticated. */
  readonly cache?: CacheHint;
  /** Entries on one page of a list. Default 100. */
  readonly pageSize?: number;
}

/** {@link ServerOptions} with every default filled in: together what the parts of a server need to know. */
export interface Settings
  extends HttpSettings,
    CatalogSettings,
    AllowanceSettings,
    ListenSettings,
    TaskSettings,
    ErrorPolicy {
  readonly info: Implementation;
  readonly audience: string | undefined;
  readonly limits: Required<Limits>;
  readonly trace: Trace;
  readonly development: boolean;
}

const LIMITS: Required<Limits> = {
  bodyBytes: 4 * 1024 * 1024,
  headerBytes: 16 * 1024,
  bodyTimeoutMs: 30_000,
  inFlight: 1_000,
  streams: 1_000,
  callsPerMinute: 6_000,
  anonymousCallsPerMinute: 60_000,
  effectsPerHour: 10_000,
  anonymousEffectsPerHour: 100_000,
  liveTasks: 1_000,
  anonymousLiveTasks: 10_000,
};

const SERVER: OptionNames<ServerOptions> = {
  name: true,
  version: true,
  title: true,
  description: true,
  icons: true,
  websiteUrl: true,
  instructions: true,
  keys: true,
  audience: true,
  singleInstance: true,
  authenticate: true,
  challenge: true,
  allowedOrigins: true,
  allowedHosts: true,
  cors: true,
  limits: true,
  rateLimiter: true,
  ledger: true,
  tasks: true,
  shedding: true,
  bus: true,
  clock: true,
  random: true,
  trace: true,
  development: true,
  errors: true,
  cache: true,
  pageSize: true,
};
const CORS: OptionNames<CorsOptions> = { allowHeaders: true, maxAgeSeconds: true };

/**
 * Checks the options and fills in what is missing.
 *
 * @throws VolleyError `invalid_options`, `keys_invalid`
 */
export function resolveOptions(options: ServerOptions): Settings {
  checkServerOptions(options);
  if (!options.name || !options.version) {
    throw new VolleyError("invalid_options", "createServer needs a `name` and a `version`.");
  }
  checkOptions("createServer: limits", options.limits ?? {}, LIMITS);
  const limits = { ...LIMITS, ...options.limits };
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value !== "number" || !(value > 0)) {
      throw new VolleyError("invalid_options", `limits.${name} must be a number above 0 (Infinity: no limit).`);
    }
  }
  const pageSize = options.pageSize ?? 100;
  if (!Number.isInteger(pageSize) || pageSize < 1) {
    throw new VolleyError("invalid_options", "pageSize must be a whole number above 0.");
  }
  const cache = options.cache ?? { ttlMs: 60_000, cacheScope: options.authenticate ? "private" : "public" };
  if (!Number.isInteger(cache.ttlMs) || cache.ttlMs < 0) {
    throw new VolleyError("invalid_options", "cache.ttlMs must be a whole number of milliseconds, 0 or more.");
  }
  if (options.errors !== undefined && options.errors !== "show" && options.errors !== "hide") {
    throw new VolleyError("invalid_options", '`errors` must be "show" or "hide".');
  }
  const clock = options.clock ?? systemClock;
  const env: Record<string, string | undefined> = globalThis.process?.env ?? {};
  const development = options.development ?? env.NODE_ENV === "development";
  const fromEnv = options.keys ? undefined : keyringFromEnv(env.VOLLEY_KEYS);
  const keyring = options.keys ? createKeyring(options.keys) : fromEnv;
  return {
    info: describe(options),
    instructions: options.instructions,
    keyring: keyring ?? randomKeyring(),
    audience: options.audience,
    unsafe: judge(keyring !== undefined, options),
    authenticate: options.authenticate,
    challenge: options.challenge ?? "Bearer",
    allowedOrigins: options.allowedOrigins,
    allowedHosts: options.allowedHosts,
    cors: options.cors ?? {},
    limits,
    rateLimiter: options.rateLimiter ?? createMemoryRateLimiter(() => clock.now()),
    clock,
    random: options.random ?? randomFromPool,
    trace: options.trace ?? createReporter({ development, now: () => clock.now() }),
    errors: options.errors ?? (development ? "show" : "hide"),
    development,
    cache,
    pageSize,
  };
}

function checkServerOptions(options: ServerOptions): void {
  checkOptions("createServer", options, SERVER);
  checkOptions("createServer: cache", options.cache ?? {}, CACHE_HINT);
  checkOptions("createServer: cors", options.cors || {}, CORS);
}

function describe(options: ServerOptions): Implementation {
  const info: Implementation = { name: options.name, version: options.version };
  if (options.title !== undefined) info.title = options.title;
  if (options.description !== undefined) info.description = options.description;
  if (options.icons !== undefined) info.icons = [...options.icons];
  if (options.websiteUrl !== undefined) info.websiteUrl = options.websiteUrl;
  return info;
}

/** What would go wrong over HTTP: replicas that cannot read each other's state, or states that open at another service. */
function judge(hasKeys: boolean, options: ServerOptions): VolleyError | undefined {
  if (!hasKeys && !options.singleInstance) {
    return new VolleyError(
      "keys_missing",
      "Over HTTP the state of a dialogue must open on every replica. Set VOLLEY_KEYS (or `keys`) to a key from " +
        "`volley keygen`, the same on each; or say `singleInstance: true` when this is the only process.",
    );
  }
  if (hasKeys && options.audience === undefined) {
    return new VolleyError(
      "invalid_options",
      "With keys, `audience` must be this service's own URL (such as https://tracker.example/mcp), so that a state " +
        "sealed here opens nowhere else under the same keys.",
    );
  }
  return undefined;
}
