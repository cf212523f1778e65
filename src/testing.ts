// volley-mcp/testing: for tests of servers and clients. Not for production: it wraps globals, and needs Node.
export { checkDeterminism, type DeterminismFinding, type DeterminismOptions } from "./testing/determinism.ts";
export { createFakeClock, type FakeClock } from "./testing/fake-clock.ts";
export { type LedgerCheck, type LedgerStore, ledgerContract } from "./testing/ledger-contract.ts";
export { createMemoryTransport } from "./testing/memory-transport.ts";
export { createPair, type PairOptions } from "./testing/pair.ts";
