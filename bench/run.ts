/**
 * Runs the benchmarks: `npm run bench [-- NAME ...]`; `--help` says more.
 *
 * Every contestant is a process of its own on processor 0, load comes from processor 1, and contestants are measured in
 * turn, so that what is printed are ratios that hold on a noisy machine.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { client } from "./client.ts";
import { type Run, writeDoc } from "./doc.ts";
import { grow } from "./grow.ts";
import { hold } from "./hold.ts";
import { printTable, type Report, type Settings } from "./lib/report.ts";
import { once } from "./once.ts";
import { scale } from "./scale.ts";
import { server } from "./server.ts";
import { start } from "./start.ts";
import { state } from "./state.ts";
import { tasks } from "./tasks.ts";

const BENCHMARKS: Readonly<Record<string, (settings: Settings) => Promise<Report>>> = {
  server,
  client,
  state,
  grow,
  hold,
  once,
  tasks,
  start,
  scale,
};

const USAGE = `npm run bench -- [NAME ...] [OPTION ...]

names: ${Object.keys(BENCHMARKS).join(" ")} (default: all)
  --quick        short runs, for development
  --only A,B     only these contestants
  --pairs N      how many times each contestant is measured (default 7; quick 3)
  --seconds N    length of one measurement (default 0.2)
  --json FILE    write every sample
  --doc          write docs/performance.md and its plots
  --from FILE    take the results of an earlier --json instead of measuring`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    pairs: { type: "string" },
    seconds: { type: "string" },
    json: { type: "string" },
    doc: { type: "boolean", default: false },
    from: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const names = positionals.length > 0 ? positionals : Object.keys(BENCHMARKS);
if (values.help || names.some((name) => !Object.hasOwn(BENCHMARKS, name))) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

const run = values.from === undefined ? await measure() : (JSON.parse(readFileSync(values.from, "utf8")) as Run);
print(run.reports);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(run, undefined, 1)}\n`);
if (values.doc) writeDoc(run);

async function measure(): Promise<Run> {
  needTool("wrk", "wrk");
  needTool("taskset", "util-linux");
  build();
  const { quick } = values;
  const pairs = Number(values.pairs ?? (quick ? 3 : 7));
  const settings: Settings = {
    quick,
    pairs,
    seconds: Number(values.seconds ?? 0.2),
    only: values.only === undefined ? undefined : new Set(values.only.split(",")),
    progress: (text) => process.stderr.write(`${text}\n`),
  };
  const reports: Record<string, Report> = {};
  for (const name of names) {
    const benchmark = BENCHMARKS[name];
    if (benchmark !== undefined) reports[name] = await benchmark(settings);
  }
  const machine = {
    processor: cpus()[0]?.model ?? "unknown",
    processors: cpus().length,
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  };
  return { machine, quick, pairs, reports };
}

function print(reports: Readonly<Record<string, Report>>): void {
  const all = Object.values(reports);
  for (const table of all.flatMap((report) => report.tables)) console.log(`\n${printTable(table)}`);
  const rows = all
    .flatMap((report) => report.checks)
    .map(({ figure, wanted, measured, reached }) => [figure, wanted, measured, reached ? "yes" : "no"]);
  if (rows.length === 0) return;
  console.log(`\n${printTable({ title: "wanted", columns: ["figure", "wanted", "measured", "reached"], rows })}`);
}

/** Contestants import the package as its users do: built. */
function build(): void {
  const { status } = spawnSync("npm", ["run", "-s", "build"], { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) process.exit(status ?? 1);
}

function needTool(tool: string, packageName: string): void {
  if (spawnSync(tool, ["--version"]).error === undefined) return;
  console.error(`${tool} is missing; on Debian: apt-get install -y ${packageName}`);
  process.exit(2);
}
