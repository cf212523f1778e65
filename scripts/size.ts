// The gzip budget: what an import of a subpath loads, its dependencies included, without comments and white space.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { transform } from "esbuild";
import { importGraph } from "./import-graph.ts";
import { entries } from "./package.ts";
import { root } from "./run.ts";

/** KiB, gzip. Raise one only with the reason in the commit. */
const budgets: Readonly<Record<string, number>> = { "volley-mcp": 65, "volley-mcp/client": 38 };

for (const [specifier, budget] of Object.entries(budgets)) {
  const entry = entries.find((candidate) => candidate.specifier === specifier);
  if (entry === undefined) throw new Error(`${specifier} has a budget but no entry in package.json`);
  const { files } = await importGraph(entry.code);
  const codes = await Promise.all(
    files.map((file) => transform(readFileSync(root + file, "utf8"), { minifyWhitespace: true, loader: "js" })),
  );
  const size = gzipSync(codes.map(({ code }) => code).join("\n")).length / 1024;
  const fits = size <= budget;
  console.log(`${specifier}: ${size.toFixed(1)} of ${budget} KiB, ${files.length} files${fits ? "" : ": over budget"}`);
  if (!fits) process.exitCode = 1;
}
