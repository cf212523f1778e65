import type { Hold, Ledger } from "../../src/ledger/ledger.ts";
import { digest } from "../../src/state/index.ts";

export interface ShortLeases {
  readonly ledger: Ledger;
  /** Whether the first claim of an effect, by its idempotency key, may have run out: surely not before so much time. */
  mayBeLost(idempotencyKey: string): boolean;
}

/** A ledger whose claims hold for a short time without a heartbeat, and that beats as much more often. */
export function shortLeases(ledger: Ledger, leaseMs: number): ShortLeases {
  /** By idempotency key, the earliest moment at which the store can have granted the lease, or prolonged it. */
  const granted = new Map<string, number>();
  const grant = ({ row, name, epoch }: Omit<Hold, "owner">, askedAt: number): void => {
    if (epoch === 1) granted.set(digest(JSON.stringify([row, name])), askedAt);
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
    mayBeLost: (key) => performance.now() - (granted.get(key) ?? Number.NEGATIVE_INFINITY) >= leaseMs,
  };
}
