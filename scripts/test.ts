// `npm test`: everything, one stage after the other, all of them even when one fails. Ends with a plain line of counts:
// the tests that vitest ran, and each other stage as one.
import { readFileSync, rmSync } from "node:fs";
import { missingNeeds, notRun } from "./needs.mjs";
import { bin, line, root, run } from "./run.ts";

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

const node = process.execPath;
const report = ".volley/vitest.json";
const stages: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["check", node, "scripts/check.ts"],
  ["tests", bin("vitest"), "run", "--reporter=dot", "--reporter=json", `--outputFile=${report}`],
  ["fleet", node, "--disable-warning=ExperimentalWarning", "test/fleet/main.ts", "--flows", "60"],
  ["fleet of tasks", node, "--disable-warning=ExperimentalWarning", "test/fleet/main.ts", "--tasks", "24"],
  ["conformance", node, "scripts/conformance.ts"],
  ["trace", node, "scripts/trace.ts", "--brief"],
  ["node 20", node, "scripts/node20.ts"],
];

/** Passed and failed tests; a file that could not be loaded is a failed one. Without a report, one failure. */
function readReport(): [passed: number, failed: number] {
  try {
    const { numPassedTests, numFailedTests, testResults }: VitestReport = JSON.parse(
      readFileSync(root + report, "utf8"),
    );
    const unloaded = testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
    return [numPassedTests, numFailedTests + unloaded.length];
  } catch {
    return [0, 1];
  }
}

rmSync(root + report, { force: true });
let passed = 0;
let failed = 0;
const summary: string[] = [];
for (const [name, command, ...args] of stages) {
  console.log(`\n== ${name}`);
  const { ok, seconds } = await run(command, args, { show: true });
  summary.push(line(ok, name, seconds));
  if (name === "tests") {
    const [inFiles, failures] = readReport();
    passed += inFiles;
    // Vitest also fails on errors outside of tests.
    failed += failures === 0 && !ok ? 1 : failures;
  } else if (ok) passed += 1;
  else failed += 1;
}

console.log(`\n${summary.join("\n")}`);
for (const need of missingNeeds()) console.log(notRun(need));
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
