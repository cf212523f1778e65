import { describe } from "vitest";
import type { Ledger } from "../../src/ledger/index.ts";
import { createLocalWaker } from "../../src/tasks/local-waker.ts";
import { contract } from "../ledger/contract.ts";
import { describeEngine } from "../tasks/contract.ts";
import { ModelLedger } from "./model-ledger.ts";
import { ModelTasks } from "./model-tasks.ts";

describe("the simulation's ledger keeps the contract of ledgers", () => {
  contract(async () => {
    const model = new ModelLedger(Date.now);
    const ledger: Ledger = {
      shared: true,
      claim: async (claim) => model.claim(claim),
      renew: async (hold, leaseMs) => model.renew(hold, leaseMs),
      settle: async (hold, outcome) => model.settle(hold, outcome),
      release: async (hold) => model.release(hold),
      doubt: async (hold) => model.doubt(hold),
    };
    const count = async (): Promise<number> => model.rows.size;
    const open = (): Ledger => {
      model.sweep();
      return ledger;
    };
    return { open, elsewhere: undefined, outage: undefined, count, remove: async () => {} };
  });
});

describeEngine("the simulation's store", () => {
  const model = new ModelTasks();
  const waker = createLocalWaker();
  return {
    waker,
    store: {
      create: async (record, most) => model.create(record, most),
      read: async (id) => model.read(id),
      update: async (id, version, head, sealed) => model.update(id, version, head, sealed),
      due: async (now, limit) => model.due(now, limit),
      sweep: async (now) => model.sweep(now),
    },
    close: async () => waker.close(),
  };
});
