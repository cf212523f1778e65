/**
 * Runs the benchmarks: `npm run bench [-- NAME ...] [--quick] [--only volley,floor] [--json FILE]`.
 *
 * Every contestant is a process of its own on processor 0, load comes from processor 1, and contestants are measured in
 * turn, so that what is printed are ratios that hold on a noisy machine.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { client } from "./client.ts";
import { hold } from "./hold.ts";
import { printTable, type Report, type Settings } from "./lib/report.ts";
import { server } from "./server.ts";
import { start } from "./start.ts";
import { state } from "./state.ts";

const BENCHMARKS: Readonly<Record<string, (settings: Settings) => Promise<Report>>> = {
  server,
  client,
  state,
  hold,
  start,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    only: { type: "string" },
    pairs: { type: "string" },
    seconds: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const names = positionals.length > 0 ? positionals : Object.keys(BENCHMARKS);
const unknown = names.filter((name) => !Object.hasOwn(BENCHMARKS, name));
if (values.help || unknown.length > 0) {
  console.log(`usage: npm run bench -- [NAME ...] [--quick] [--only CONTESTANT,...] [--pairs N] [--seconds N] [--json FILE]
names: ${Object.keys(BENCHMARKS).join(" ")}`);
  process.exit(values.help ? 0 : 2);
}
for (const [tool, packageName] of [
  ["wrk", "wrk"],
  ["taskset", "util-linux"],
] as const) {
  if (spawnSync(tool, ["--version"]).error !== undefined) {
    console.error(`${tool} is missing; on Debian: apt-get install -y ${packageName}`);
    process.exit(2);
  }
}

const settings: Settings = {
  quick: values.quick,
  pairs: Number(values.pairs ?? (values.quick ? 3 : 5)),
  seconds: Number(values.seconds ?? (values.quick ? 0.3 : 0.5)),
  only: values.only === undefined ? undefined : new Set(values.only.split(",")),
  progress: (text) => process.stderr.write(`${text}\n`),
};

const reports: Record<string, Report> = {};
for (const name of names) {
  const report = await BENCHMARKS[name]?.(settings);
  if (report === undefined) continue;
  reports[name] = report;
  for (const table of report.tables) console.log(`\n${printTable(table)}`);
}
const checks = Object.values(reports).flatMap((report) => report.checks);
if (checks.length > 0) {
  const rows = checks.map(({ figure, wanted, measured, reached }) => [
    figure,
    wanted,
    measured,
    reached ? "yes" : "no",
  ]);
  console.log(`\n${printTable({ title: "wanted", columns: ["figure", "wanted", "measured", "reached"], rows })}`);
}
if (values.json !== undefined) {
  const machine = {
    processor: cpus()[0]?.model ?? "unknown",
    processors: cpus().length,
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  };
  writeFileSync(values.json, `${JSON.stringify({ machine, quick: settings.quick, reports }, undefined, 1)}\n`);
}
