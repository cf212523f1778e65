/**
 * `npm run fleet -- --flows N --seed S --store redis|postgres|sqlite|all`: flows on a fleet that is being killed.
 *
 * The same seed and number of flows rerun the same schedule. Exits with 0 when nothing was asked again, done twice, told
 * wrongly, lost, or accepted from the wrong hands.
 */
import { parseArgs } from "node:util";
import type { StoreKind } from "../ledger/stores.ts";
import { mayRun } from "../support/private-server.ts";
import type { Counts } from "./counts.ts";
import { runFleet } from "./fleet.ts";
import { buildProgram } from "./program.ts";
import { report } from "./report.ts";
import { makeSchedule } from "./schedule.ts";

const { values } = parseArgs({
  options: {
    flows: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    store: { type: "string", default: "all" },
  },
});
const STORES: readonly StoreKind[] = ["sqlite", "redis", "postgres"];
const PROGRAMS: Readonly<Record<StoreKind, readonly string[]>> = {
  sqlite: ["nginx"],
  redis: ["nginx", "redis-server"],
  postgres: ["nginx", "initdb"],
};
const wanted = STORES.filter((store) => values.store === "all" || values.store === store);
const flows = Number(values.flows);
const seed = Number(values.seed);

if (wanted.length === 0 || !Number.isInteger(flows) || flows < 30 || !Number.isInteger(seed)) {
  console.error("Use: npm run fleet -- --flows N (30 or more) --seed S --store redis|postgres|sqlite|all");
  process.exit(2);
}
// What is missing is listed by `npm test` as not run, and fails where CI=true.
const stores = wanted.filter((store) => PROGRAMS[store].every(mayRun));
const schedule = makeSchedule(seed, flows);
const runs = new Map<string, Counts>();
const program = await buildProgram(new URL("server.ts", import.meta.url));
for (const store of stores) {
  const startedAt = performance.now();
  runs.set(store, await runFleet(program, store, schedule));
  console.log(`${store}: ${flows} flows in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
}
await program.remove();
console.log(`\nseed ${seed}`);
if (stores.length < wanted.length) console.log("not run on every store: programs are missing, see scripts/needs.mjs");
process.exitCode = report(runs) ? 0 : 1;
