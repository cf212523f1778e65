import type { Hold, Ledger } from "../../src/ledger/ledger.ts";
import { digest } from "../../src/state/index.ts";

export interface ShortLeases {
  readonly ledger: Ledger;
  /**
   * Whether the first claim of an effect, by its idempotency key, or the last one of this process may have run out: surely
   * not before so much time.
   */
  mayBeLost(idempotencyKey: string, claim?: "first" | "last"): boolean;
}

/** A ledger whose claims hold for a short time without a heartbeat, and that beats as much more often. */
export function shortLeases(ledger: Ledger, leaseMs: number): ShortLeases {
  /** By idempotency key, the earliest moment at which the store can have granted the lease, or prolonged it. */
  const granted = { first: new Map<string, number>(), last: new Map<string, number>() };
  const grant = ({ row, name, epoch }: Omit<Hold, "owner">, askedAt: number): void => {
    const key = digest(JSON.stringify([row, name]));
    if (epoch === 1) granted.first.set(key, askedAt);
    granted.last.set(key, askedAt);
  };
  const renew = async (hold: Hold): Promise<boolean> => {
    const askedAt = performance.now();
    const kept = await ledger.renew(hold, leaseMs);
    if (kept) grant(hold, askedAt);
    return kept;
  };
  const beats = new Map<string, NodeJS.Timeout>();
  const end = (owner: string): void => clearInterval(beats.get(owner));
  const short: Ledger = {
    ...ledger,
    async claim(claim) {
      const { row, name, owner } = claim;
      const askedAt = performance.now();
      const result = await ledger.claim({ ...claim, leaseMs });
      if (result.status === "claimed") {
        const hold = { row, name, owner, epoch: result.epoch };
        grant(hold, askedAt);
        end(owner);
        beats.set(owner, setInterval(() => void renew(hold).catch(() => {}), leaseMs / 5).unref());
      }
      return result;
    },
    renew,
    settle(hold, outcome) {
      end(hold.owner);
      beats.delete(hold.owner);
      return ledger.settle(hold, outcome);
    },
    release(hold) {
      end(hold.owner);
      beats.delete(hold.owner);
      return ledger.release(hold);
    },
    doubt(hold) {
      end(hold.owner);
      beats.delete(hold.owner);
      return ledger.doubt(hold);
    },
  };
  return {
    ledger: short,
    mayBeLost: (key, claim = "first") =>
      performance.now() - (granted[claim].get(key) ?? Number.NEGATIVE_INFINITY) >= leaseMs,
  };
}
