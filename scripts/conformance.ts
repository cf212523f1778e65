// `npm run conformance [server | client]`: the official suite, all of it, against `examples/everything` and
// `examples/conformance-client`.
//
// Checks are counted from the suite's result files, since its exit code says nothing of warnings. A warning fails here as
// a failure does. The client's scenarios run one after the other: all at once they overrun their time on a busy machine.
import { globSync, readFileSync, rmSync } from "node:fs";
import { devNode, startListening } from "./listening.ts";
import { root, run } from "./run.ts";

const SPEC = "2026-07-28";
const SUITE = `${root}node_modules/@modelcontextprotocol/conformance/dist/index.js`;
const RESULTS = `${root}.volley/conformance`;
/** Scenarios of authorization, which is not built yet. */
const NOT_COUNTED = /^auth\//;
/** Scenarios of an extension, which the suite plays only when it is forced to. */
const EXTENSION = /^tasks-/;
/** What the suite itself skips as a whole, for now. */
const EMPTY = new Set(["tasks-status-notifications"]);

type Side = "server" | "client";
type Status = "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";

interface Check {
  readonly id: string;
  readonly status: Status;
  readonly description: string;
  readonly errorMessage?: string;
}

rmSync(RESULTS, { recursive: true, force: true });
const sides = process.argv.slice(2).filter((side) => side === "server" || side === "client");
let passed = 0;
let failed = 0;
for (const side of sides.length > 0 ? sides : (["server", "client"] as const)) await judge(side);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

async function judge(side: Side): Promise<void> {
  const names = await scenariosOf(side);
  const counted = names.filter((name) => !NOT_COUNTED.test(name));
  const complaints = side === "server" ? await playServer(counted) : await playClient(counted);
  const results = readResults(side);

  console.log(`\n${`${side}, ${SPEC}`.padEnd(52)}passed failed warned skipped`);
  let good = 0;
  for (const name of counted) if (print(name, results.get(name) ?? [], complaints.get(name))) good += 1;
  console.log(`${side}: ${good} of ${counted.length} scenarios`);
  if (counted.length < names.length) {
    console.log(`${names.length - counted.length} auth/ scenarios are left out: authorization is not built yet.`);
  }
}

/** One line a scenario, and what is wrong with it. `complaint` counts where the checks say nothing of it. */
function print(name: string, checks: readonly Check[], complaint: string | undefined): boolean {
  const count = (status: Status): number => checks.filter((check) => check.status === status).length;
  const bad = count("FAILURE") + count("WARNING");
  const played = count("SUCCESS") > 0 || (EMPTY.has(name) && count("SKIPPED") > 0);
  const good = bad === 0 && played && complaint === undefined;
  passed += count("SUCCESS");
  failed += good ? 0 : Math.max(bad, 1);
  const numbers = [count("SUCCESS"), count("FAILURE"), count("WARNING"), count("SKIPPED")];
  const columns = numbers.map((number) => String(number).padStart(6)).join(" ");
  console.log(`${good ? "ok  " : "FAIL"} ${name.padEnd(46)} ${columns}`);
  for (const check of checks) {
    if (check.status !== "FAILURE" && check.status !== "WARNING") continue;
    console.log(`       ${check.status} ${check.id}: ${check.errorMessage ?? check.description}`);
  }
  if (!good && bad === 0) console.log((complaint ?? "It left no result.").replace(/^/gm, "       "));
  return good;
}

async function scenariosOf(side: Side): Promise<string[]> {
  const list = async (...args: string[]): Promise<string[]> => {
    const { output } = await run(devNode, [SUITE, "list", `--${side}`, ...args]);
    return output.split("\n").flatMap((line) => /^ {2}- (\S+) \[/.exec(line)?.[1] ?? []);
  };
  const names = await list("--spec-version", SPEC);
  return side === "client" ? names : [...names, ...(await list()).filter((name) => EXTENSION.test(name))];
}

async function playServer(names: readonly string[]): Promise<Map<string, string>> {
  const server = await startListening(["examples/everything/main.ts", "--port", "0"]);
  try {
    await play("server", "--url", server.url, "--suite", "all");
    for (const name of names.filter((each) => EXTENSION.test(each))) {
      await play("server", "--url", server.url, "--scenario", name, "--force");
    }
  } finally {
    await server.stop();
  }
  return new Map();
}

/** What the suite printed for each scenario that it does not call passed, which includes a client that crashed. */
async function playClient(names: readonly string[]): Promise<Map<string, string>> {
  const command = `${devNode} ${root}examples/conformance-client/main.ts`;
  const complaints = new Map<string, string>();
  for (const name of names) {
    const { ok, output } = await play("client", "--command", command, "--scenario", name);
    if (!ok) complaints.set(name, output);
  }
  return complaints;
}

function play(side: Side, ...args: string[]): ReturnType<typeof run> {
  return run(devNode, [SUITE, side, ...args, "--spec-version", SPEC, "--output-dir", `${RESULTS}/${side}`]);
}

/** The suite writes each scenario to `[server-]<name>-<time>/checks.json`; names may hold a slash. */
function readResults(side: Side): Map<string, readonly Check[]> {
  const folder = `${RESULTS}/${side}`;
  const results = new Map<string, readonly Check[]>();
  for (const file of globSync("**/checks.json", { cwd: folder })) {
    const name = file.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z\/checks\.json$/, "");
    results.set(name, JSON.parse(readFileSync(`${folder}/${file}`, "utf8")) as Check[]);
  }
  return results;
}
