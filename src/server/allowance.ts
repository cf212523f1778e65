import type { Principal } from "../state/index.ts";
import type { Limits } from "./options.ts";
import { tooMany } from "./refusal.ts";

const MINUTE = 60_000;
/** Callers counted at the same time; beyond them the one seen first is forgotten. */
const CALLERS = 10_000;

interface Window {
  start: number;
  count: number;
}

/** Counts what each caller asked for in the running minute. */
export interface Allowance {
  /** @throws Refusal 429 when the caller's minute is used up */
  take(principal: Principal, now: number): void;
}

/** A client that loops is stopped before it costs others anything; all anonymous callers share one allowance. */
export function createAllowance(limits: Required<Limits>): Allowance {
  const anonymous: Window = { start: 0, count: 0 };
  const users = new Map<string, Window>();

  const windowOf = (principal: Principal, now: number): Window => {
    if (principal.type === "anonymous") return anonymous;
    const key = JSON.stringify([principal.issuer, principal.subject, principal.tenant]);
    let window = users.get(key);
    if (!window) {
      if (users.size >= CALLERS) users.delete(users.keys().next().value as string);
      window = { start: now, count: 0 };
      users.set(key, window);
    }
    return window;
  };

  return {
    take(principal, now) {
      const window = windowOf(principal, now);
      if (now - window.start >= MINUTE || now < window.start) {
        window.start = now;
        window.count = 0;
      }
      const most = principal.type === "anonymous" ? limits.anonymousCallsPerMinute : limits.callsPerMinute;
      if (++window.count > most) {
        throw tooMany("Too many requests in a minute.", Math.max(1, Math.ceil((window.start + MINUTE - now) / 1000)));
      }
    },
  };
}
