import type { Principal } from "../state/index.ts";
import type { Limits, Settings } from "./options.ts";
import type { Quota } from "./rate-limiter.ts";
import { tooMany } from "./refusal.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Rule {
  readonly limit: keyof Limits;
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
export function createAllowance({ limits, rateLimiter, trace }: Settings): Allowance {
  const rule = (limit: keyof Limits, name: string, windowMs: number): Rule => ({
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
