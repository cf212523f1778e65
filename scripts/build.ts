// Builds dist/ anew: one readable JavaScript file and its types for each source file.
import { rmSync } from "node:fs";
import { bin, root, run } from "./run.ts";

rmSync(`${root}dist`, { recursive: true, force: true });
const { ok, output } = await run(bin("tsc"), ["-p", "tsconfig.build.json"]);
if (!ok) console.error(output);
process.exitCode = ok ? 0 : 1;
