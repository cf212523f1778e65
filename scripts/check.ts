// `npm run check`: every gate that needs no test runner, one line each, output only where one fails. All of them run,
// so that one look shows all there is to mend.
import { mkdirSync, rmSync } from "node:fs";
import { manifest } from "./package.ts";
import { bin, line, root, run } from "./run.ts";

const packed = ".volley/pack";
const node = process.execPath;
const tarball = `${packed}/${manifest.name}-${manifest.version}.tgz`;

const gates: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["types", bin("tsc"), "-p", "."],
  ["lint and format", bin("biome"), "check", "--error-on-warnings", "--max-diagnostics=20", "."],
  ["build", node, "scripts/build.ts"],
  ["pack", "npm", "pack", "--ignore-scripts", "--pack-destination", packed],
  ["package (publint)", bin("publint"), "run", tarball, "--strict"],
  ["package's types (attw)", bin("attw"), tarball, "--profile", "esm-only", "--no-definitely-typed"],
  ["unused files, exports, packages (knip)", bin("knip")],
  ["subpaths", node, "scripts/subpaths.ts"],
  ["export snapshot", node, "scripts/exports-snapshot.ts"],
  ["gzip budget", node, "scripts/size.ts"],
];

rmSync(root + packed, { recursive: true, force: true });
mkdirSync(root + packed, { recursive: true });
let failed = 0;
for (const [name, command, ...args] of gates) {
  const { ok, output, seconds } = await run(command, args);
  console.log(line(ok, name, seconds));
  if (ok) continue;
  failed += 1;
  const lines = output.split("\n");
  const shown = lines.slice(0, 80).map((text) => `       ${text.slice(0, 240)}`);
  console.log([...shown, lines.length > 80 ? `       ... ${lines.length - 80} lines more` : ""].join("\n").trimEnd());
}
process.exitCode = failed === 0 ? 0 : 1;
