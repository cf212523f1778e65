import { describe } from "vitest";
import { createMemoryLedger } from "../../src/ledger/memory.ts";
import { contract } from "./contract.ts";

describe("S9, X5, case 36: the contract of ledgers, in memory", () => {
  contract(async () => {
    const ledger = createMemoryLedger();
    return {
      open: () => ledger,
      elsewhere: undefined,
      outage: undefined,
      count: undefined,
      remove: async () => {},
    };
  });
});
