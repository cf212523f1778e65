import { type Clock, type LoadMonitor, systemClock, type Trace } from "../flow/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { Icon, Implementation } from "../protocol/index.ts";
import { checkOptions, VolleyError } from "../protocol/index.ts";
import {
  createKeyring,
  type Keyring,
  keyringFromEnv,
  type Principal,
  randomFromPool,
  randomKeyring,
} from "../state/index.ts";
import { createMemoryRateLimiter, type RateLimiter } from "./allowance.ts";
import type { EventBus } from "./events.ts";
import { checkServerOptions } from "./option-names.ts";
import { createReporter } from "./report.ts";
import type { TaskService } from "./task-service.ts";

/** What `authenticate` sees of a request: its headers, never its body. */
export interface HeaderReader {
  /** The value of a header by its lower-case name, or null. */
  header(name: string): string | null;
}

/** What a server refuses to do more of. Each has a safe default; a refusal is HTTP 413, 408, 431 or 429. */
export interface Limits {
  /** Largest request body, in bytes. Default 4 MiB. */
  readonly bodyBytes?: number;
  /** Largest sum of header names and values, in bytes. Default 16 KiB. */
  readonly headerBytes?: number;
  /** How long a request's body may take to arrive, in milliseconds. Default 30,000. */
  readonly bodyTimeoutMs?: number;
  /** Requests that run at the same time, `subscriptions/listen` apart. Default 1,000. */
  readonly inFlight?: number;
  /** Open `subscriptions/listen` streams. Default 1,000. */
  readonly streams?: number;
  /** Calls, prompts, reads and completions a minute for each verified user. Default 6,000. */
  readonly callsPerMinute?: number;
  /** The same for all anonymous callers together. Default 60,000. */
  readonly anonymousCallsPerMinute?: number;
  /** Effects (`ctx.once`) an hour for each verified user: each leaves a row in the ledger. Default 10,000. */
  readonly effectsPerHour?: number;
  /** The same for all anonymous callers together. Default 100,000. */
  readonly anonymousEffectsPerHour?: number;
  /** Tasks that have neither ended nor expired, for each verified user; all instances count together. Default 1,000. */
  readonly liveTasks?: number;
  /** The same for all anonymous callers together. Default 10,000. */
  readonly anonymousLiveTasks?: number;
}

/** How long clients may keep a result. */
export interface CacheHint {
  /** Milliseconds, 0 or more. */
  readonly ttlMs: number;
  /** `"public"` lets a shared cache hand the result to anybody. */
  readonly cacheScope: "public" | "private";
}

/** How browsers on allowed origins may call. */
export interface CorsOptions {
  /** Request headers to allow beside those of the protocol and `Authorization`. */
  readonly allowHeaders?: readonly string[];
  /** How long a browser may remember a preflight, in seconds. Default 600. */
  readonly maxAgeSeconds?: number;
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

/** {@link ServerOptions} with every default filled in. */
export interface Settings {
  readonly info: Implementation;
  readonly instructions: string | undefined;
  readonly keyring: Keyring;
  readonly audience: string | undefined;
  /** Why this set-up must not be served over HTTP, if so. */
  readonly unsafe: VolleyError | undefined;
  readonly authenticate: ServerOptions["authenticate"];
  readonly challenge: string;
  readonly allowedOrigins: readonly string[] | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly cors: CorsOptions | false;
  readonly limits: Required<Limits>;
  readonly rateLimiter: RateLimiter;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly trace: Trace;
  readonly errors: "show" | "hide";
  readonly development: boolean;
  readonly cache: CacheHint;
  readonly pageSize: number;
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
