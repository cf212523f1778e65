import type { Principal } from "../state/index.ts";
import type { Limits } from "./options.ts";
import type { Quota, RateLimiter } from "./rate-limiter.ts";
import { tooMany } from "./refusal.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What each caller may still ask for. A refusal is 429. */
export interface Allowance {
  /** One more call, prompt, read or completion. */
  call(principal: Principal): void | Promise<void>;
  /** One more effect, which leaves a row in the ledger. */
  effect(principal: Principal): void | Promise<void>;
}

/** A client that loops is stopped before it costs others anything; all anonymous callers share one allowance. */
export function createAllowance(limits: Required<Limits>, limiter: RateLimiter): Allowance {
  const calls: Quota = { name: "calls", points: limits.callsPerMinute, windowMs: MINUTE };
  const anonymousCalls: Quota = { name: "calls*", points: limits.anonymousCallsPerMinute, windowMs: MINUTE };
  const effects: Quota = { name: "effects", points: limits.effectsPerHour, windowMs: HOUR };
  const anonymousEffects: Quota = { name: "effects*", points: limits.anonymousEffectsPerHour, windowMs: HOUR };

  const take = (principal: Principal, users: Quota, anonymous: Quota, refusal: string): void | Promise<void> => {
    const quota = principal.type === "anonymous" ? anonymous : users;
    if (quota.points === Number.POSITIVE_INFINITY) return;
    const check = (waitMs: number): void => {
      if (waitMs > 0) throw tooMany(refusal, Math.ceil(waitMs / 1000));
    };
    const wait = limiter.take(quota, keyOf(principal));
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
