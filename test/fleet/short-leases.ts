import type { Ledger } from "../../src/ledger/ledger.ts";

/** A ledger whose claims hold for a short time without a heartbeat, and that beats as much more often. */
export function shortLeases(ledger: Ledger, leaseMs: number): Ledger {
  const beats = new Map<string, NodeJS.Timeout>();
  const end = (owner: string): void => clearInterval(beats.get(owner));
  return {
    ...ledger,
    async claim(claim) {
      const { row, name, owner } = claim;
      const result = await ledger.claim({ ...claim, leaseMs });
      if (result.status === "claimed") {
        const hold = { row, name, owner, epoch: result.epoch };
        end(owner);
        beats.set(owner, setInterval(() => void ledger.renew(hold, leaseMs).catch(() => {}), leaseMs / 5).unref());
      }
      return result;
    },
    renew: (hold) => ledger.renew(hold, leaseMs),
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
}
