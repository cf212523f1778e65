/**
 * `npm run fleet -- --flows N --seed S --store redis|postgres|sqlite|all`: flows on a fleet that is being killed;
 * `--tasks N` instead: tasks, by servers and workers.
 *
 * The same seed and number rerun the same schedule. Exits with 0 when nothing was asked again, done twice, told wrongly,
 * lost, or accepted from the wrong hands.
 */
import { parseArgs } from "node:util";
import type { StoreKind } from "../ledger/stores.ts";
import { mayRun } from "../support/private-server.ts";
import { runFleet } from "./fleet.ts";
import { buildProgram, type Program } from "./program.ts";
import { report } from "./report.ts";
import { makeSchedule } from "./schedule.ts";
import { runTaskFleet } from "./tasks/fleet.ts";
import { reportTasks } from "./tasks/report.ts";
import { makeTaskSchedule } from "./tasks/schedule.ts";

const { values } = parseArgs({
  options: {
    flows: { type: "string" },
    tasks: { type: "string" },
    seed: { type: "string", default: "1" },
    store: { type: "string", default: "all" },
    help: { type: "boolean", default: false },
  },
});
const STORES: readonly StoreKind[] = ["sqlite", "redis", "postgres"];
const PROGRAMS: Readonly<Record<StoreKind, readonly string[]>> = {
  sqlite: ["nginx"],
  redis: ["nginx", "redis-server"],
  postgres: ["nginx", "initdb"],
};
const wanted = STORES.filter((store) => values.store === "all" || values.store === store);
const sizeOf = (text: string | undefined, least: number): number | undefined => {
  const size = text === undefined ? 0 : Number(text);
  return size === 0 || (Number.isInteger(size) && size >= least) ? size : undefined;
};
const tasks = sizeOf(values.tasks, 20);
const flows = sizeOf(values.flows ?? (tasks === 0 ? "200" : undefined), 30);
const seed = Number(values.seed);

if (values.help || wanted.length === 0 || flows === undefined || tasks === undefined || !Number.isInteger(seed)) {
  console.error(
    "Use: npm run fleet -- --flows N (30 or more) --tasks N (20 or more) --seed S --store redis|postgres|sqlite|all",
  );
  process.exit(2);
}
// What is missing is listed by `npm test` as not run, and fails where CI=true.
const stores = wanted.filter((store) => PROGRAMS[store].every(mayRun));

async function runAll<Counts>(
  entry: string,
  atOnce: boolean,
  what: string,
  run: (program: Program, store: StoreKind) => Promise<Counts>,
  report: (runs: ReadonlyMap<string, Counts>) => boolean,
): Promise<void> {
  const program = await buildProgram(new URL(entry, import.meta.url));
  const counts = new Map<StoreKind, Counts>();
  const runOn = async (store: StoreKind): Promise<void> => {
    const startedAt = performance.now();
    counts.set(store, await run(program, store));
    console.log(`${store}: ${what} in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  };
  if (atOnce) await Promise.all(stores.map(runOn));
  else for (const store of stores) await runOn(store);
  await program.remove();
  const runs = new Map(stores.map((store) => [store, counts.get(store) as Counts]));
  console.log(`\nseed ${seed}`);
  if (!report(runs)) process.exitCode = 1;
}

if (flows > 0) {
  const schedule = makeSchedule(seed, flows);
  await runAll("server.ts", false, `${flows} flows`, (program, store) => runFleet(program, store, schedule), report);
}
if (tasks > 0) {
  const schedule = makeTaskSchedule(seed, tasks);
  const run = (program: Program, store: StoreKind) => runTaskFleet(program, store, schedule);
  // A few tasks wait for leases most of the time, and can do so side by side.
  await runAll("tasks/process.ts", tasks < 100, `${tasks} tasks`, run, reportTasks);
}
if (stores.length < wanted.length) console.log("not run on every store: programs are missing, see scripts/needs.mjs");
