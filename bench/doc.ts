import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { STAY_COMPILED } from "./lib/process.ts";
import { type Check, markdownTable, type Report } from "./lib/report.ts";
import { drawChart } from "./plot.ts";

/** A whole run, as `--json` writes it. */
export interface Run {
  readonly machine: {
    readonly processor: string;
    readonly processors: number;
    readonly node: string;
    readonly date: string;
  };
  readonly quick: boolean;
  readonly pairs: number;
  readonly reports: Readonly<Record<string, Report>>;
}

/** What a benchmark measures, for readers of the page. */
const ABOUT: Readonly<Record<string, string>> = {
  server:
    "Whole servers over HTTP under `wrk`. Every contestant serves the same tools with the same zod schemas; the states that second legs send were captured before, from many different flows.",
  client:
    "A tool call that is asked one question, from the first request to the final result, one call after the other.",
  state: "Sealing a state and opening it again, without a server. The official codec signs and does not encrypt.",
  grow: "What a round of Volley costs when there is more of something: rounds before it, remembered bytes, registered tools, rounds of others that wait.",
  hold: "First legs whose client never comes back, against sessions of the official SDK whose handler waits in memory.",
  once: "A call whose work is done in `once` against the same call without it, over HTTP. Each ledger round trip is one command to the store; the CPU time is the server's, not the store's. Here Postgres does not wait for its disk.",
  tasks:
    "A tool call that becomes a task, is answered once and ends, over HTTP, with the server and its worker in one process; each task's text is checked. The floor is what moves a task: on Redis and Postgres one bare BullMQ job that is added, processed and completed; on SQLite one bare transaction for each of the six states of a task, on the disk before the next. The client follows each task by a stream of its own. Reads, writes and wake-ups are calls of the engine for one task; two of the reads are that stream's. Redis and SQLite wait for the disk at each write; here Postgres does not.",
  scale:
    "Fleets of one to eight processes that share a key, each behind an nginx of its own that chooses a process for each round by lot. All fleets of a contestant are at work at the same time and every process is sent as many rounds a second, so that all of them share the processor and its caches alike. A process that has so little to do finds its caches cold, which is why a round costs more here than above.",
  start: "Each number is of a new process, of the built package, median with smallest and largest.",
};

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = `${ROOT}docs/performance.md`;
const PLOTS = `${ROOT}docs/performance`;
/** What profiles have shown about figures that were not reached; written by hand. */
const NOTES = `${ROOT}bench/notes.md`;

/** Writes docs/performance.md and its plots from one run, so that no figure stands there that was not measured. */
export function writeDoc(run: Run): void {
  rmSync(PLOTS, { recursive: true, force: true });
  mkdirSync(PLOTS, { recursive: true });
  const sections = Object.entries(run.reports).map(([name, report]) => section(name, report));
  const checks = Object.values(run.reports).flatMap((report) => report.checks);
  const notes = existsSync(NOTES) ? [readFileSync(NOTES, "utf8").trim()] : [];
  writeFileSync(PAGE, `${[head(run), wanted(checks), ...notes, ...sections].join("\n\n")}\n`);
}

function head({ machine, pairs, quick }: Run): string {
  return `# Performance

<!-- Written by \`npm run bench -- --doc\`; do not edit. -->

Measured on ${machine.date} with Node ${machine.node.slice(1)} on ${machine.processors} processors (${machine.processor})${quick ? ", **with short runs, for development only**" : ""}.

Every contestant is a process of its own on processor 0, load comes from processor 1. Contestants are measured in turn,
A B A B, ${pairs} times each, after a warm-up that lasts until they get no faster; their answers are checked word for word before and after. Machines are noisy, so what
counts are ratios: they are taken pair by pair and given as median (smallest .. largest). CPU time is that of the whole
contestant process. Contestants run with \`${STAY_COMPILED.join(" ")}\`: while others are measured they wait, and Node
would use the wait to forget their code, as it never does to a server that is at work.

| contestant | what it is |
| --- | --- |
| volley | this package with every check on, limits above the load |
| floor | bare \`node:http\`, \`JSON.parse\`, AES-256-GCM, \`JSON.stringify\`; checks nothing, so nobody can be much faster |
| official | the official TypeScript SDK as a careful author serves it: schemas and forms made once, JSON responses, its signed state with a binding |
| tmcp | tmcp with a codec that encrypts |
| mcp-lite | mcp-lite, on the older revision that it speaks |

To repeat it (Linux, \`wrk\` and \`taskset\`; about nine minutes):

\`\`\`
npm run bench                              # everything
npm run bench -- server state              # some benchmarks
npm run bench -- --quick                   # short runs, for development
npm run bench -- --json results.json --doc # and write this page
\`\`\``;
}

function wanted(checks: readonly Check[]): string {
  const rows = checks.map(({ figure, wanted: goal, measured, reached }) => [
    figure,
    goal,
    measured,
    reached ? "yes" : "**no**",
  ]);
  return `## What is wanted, and what was measured\n\n${markdownTable({ columns: ["figure", "wanted", "measured", "reached"], rows })}`;
}

function section(name: string, report: Report): string {
  const plots = report.charts.map((chart) => {
    writeFileSync(`${PLOTS}/${chart.name}.svg`, drawChart(chart));
    return `![${chart.title}](performance/${chart.name}.svg)`;
  });
  const tables = report.tables.map((table) => `### ${table.title}\n\n${markdownTable(table)}`);
  return [`## ${name}`, ABOUT[name] ?? "", ...plots, ...tables].join("\n\n");
}
