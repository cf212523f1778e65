import type { Trace } from "../../flow/index.ts";
import type { Principal } from "../../state/index.ts";
import { tooMany } from "../message/refusal.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What callers may take in a while. */
export interface AllowanceLimits {
  /** Calls, prompts, reads and completions a minute for each verified user. Default 6,000. */
  readonly callsPerMinute?: number;
  /** The same for all anonymous callers together. Default 60,000. */
  readonly anonymousCallsPerMinute?: number;
  /** Effects (`ctx.once`) an hour for each verified user: each leaves a row in the ledger. Default 10,000. */
  readonly effectsPerHour?: number;
  /** The same for all anonymous callers together. Default 100,000. */
  readonly anonymousEffectsPerHour?: number;
}

export interface AllowanceSettings {
  readonly limits: Required<AllowanceLimits>;
  readonly rateLimiter: RateLimiter;
  readonly trace: Trace;
}

interface Rule {
  readonly limit: keyof AllowanceLimits;
  readonly quota: Quota;
}

/** What each caller may still ask for. A refusal is 429. */
export interface Allowance {
  /** One more call, prompt, read or completion. */
  call(principal: Principal): void | Promise<void>;
  /** One more effect, which leaves a row in the ledger. */
  effect(principal: Principal): void | Promise<void>;
}

/** A client that loops is stopped before it costs others anything; all anonymous callers share one allowance. */
export function createAllowance({ limits, rateLimiter, trace }: AllowanceSettings): Allowance {
  const rule = (limit: keyof AllowanceLimits, name: string, windowMs: number): Rule => ({
    limit,
    quota: { name, points: limits[limit], windowMs },
  });
  const calls = rule("callsPerMinute", "calls", MINUTE);
  const anonymousCalls = rule("anonymousCallsPerMinute", "calls*", MINUTE);
  const effects = rule("effectsPerHour", "effects", HOUR);
  const anonymousEffects = rule("anonymousEffectsPerHour", "effects*", HOUR);

  const take = (principal: Principal, users: Rule, anonymous: Rule, refusal: string): void | Promise<void> => {
    const { limit, quota } = principal.type === "anonymous" ? anonymous : users;
    if (quota.points === Number.POSITIVE_INFINITY) return;
    const check = (waitMs: number): void => {
      if (waitMs > 0) throw tooMany(trace, limit, refusal, Math.ceil(waitMs / 1000));
    };
    const wait = rateLimiter.take(quota, keyOf(principal));
    return typeof wait === "number" ? check(wait) : wait.then(check);
  };

  return {
    call: (principal) => take(principal, calls, anonymousCalls, "Too many requests in a minute."),
    effect: (principal) => take(principal, effects, anonymousEffects, "Too many effects in an hour."),
  };
}

function keyOf(principal: Principal): string {
  if (principal.type === "anonymous") return "";
  return JSON.stringify([principal.issuer, principal.subject, principal.tenant]);
}

/** How much of something one caller may have in a while. */
export interface Quota {
  /** What is counted; each is counted for itself. */
  readonly name: string;
  /** How many in one window. */
  readonly points: number;
  /** In milliseconds. */
  readonly windowMs: number;
}

/** Counts what callers take. */
export interface RateLimiter {
  /**
   * Takes one from the quota of the caller that `key` names.
   *
   * @returns 0 when it was granted, else how long to wait for the next, in milliseconds
   */
  take(quota: Quota, key: string): number | Promise<number>;
  close?(): Promise<void>;
}

/** Callers counted at the same time; beyond them the one seen first is forgotten. */
const CALLERS = 10_000;

interface Window {
  start: number;
  count: number;
}

/** A {@link RateLimiter} in the memory of this process. */
export function createMemoryRateLimiter(now: () => number): RateLimiter {
  const counted = new Map<string, Map<string, Window>>();

  const windowOf = (name: string, key: string): Window => {
    let windows = counted.get(name);
    if (!windows) {
      windows = new Map();
      counted.set(name, windows);
    }
    let window = windows.get(key);
    if (!window) {
      if (windows.size >= CALLERS) windows.delete(windows.keys().next().value as string);
      window = { start: now(), count: 0 };
      windows.set(key, window);
    }
    return window;
  };

  return {
    take({ name, points, windowMs }, key) {
      const window = windowOf(name, key);
      const time = now();
      if (time - window.start >= windowMs || time < window.start) {
        window.start = time;
        window.count = 0;
      }
      return ++window.count > points ? window.start + windowMs - time : 0;
    },
  };
}
