// Runs the smoke test of the built package on the oldest Node that the library supports, where the machine has one.
import { globSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root, run } from "./run.ts";

const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
const candidates = [...folders, "/usr/local/bin"].flatMap((folder) => globSync(join(folder, "node")));

for (const node of candidates) {
  const { output: version } = await run(node, ["--version"]);
  if (!version.startsWith("v20.")) continue;
  const { ok, output, seconds } = await run(node, [`${root}test/runtimes/smoke.mjs`]);
  console.log(`${output}\n${ok ? "passed" : "failed"} on Node ${version} in ${seconds.toFixed(1)} s`);
  process.exit(ok ? 0 : 1);
}
console.log("not run: no Node 20 on PATH");
