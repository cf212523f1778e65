// Public subpaths are real: each target is built, each entry file says its own name, and whatever a docstring, a guide
// or an example imports exists.
import { existsSync, globSync, readFileSync } from "node:fs";
import { entries, manifest } from "./package.ts";
import { root } from "./run.ts";

const problems: string[] = [];

for (const [subpath, target] of Object.entries(manifest.exports)) {
  const targets = typeof target === "string" ? [target] : [target.types, target.default];
  if ([subpath, ...targets].some((path) => path.includes("*"))) problems.push(`exports "${subpath}" has a wildcard`);
  for (const path of targets) if (!existsSync(root + path)) problems.push(`exports "${subpath}": no ${path}`);
}
for (const [name, path] of Object.entries(manifest.bin)) {
  if (!existsSync(root + path)) problems.push(`bin ${name}: no ${path}`);
}

for (const { specifier, source } of entries) {
  if (!existsSync(root + source)) continue;
  const [first] = readFileSync(root + source, "utf8").split("\n", 1);
  if (!first?.startsWith(`// ${specifier}:`)) problems.push(`${source} does not begin with "// ${specifier}: ..."`);
}

/** `from "volley-mcp/client"`, `import "volley-mcp"`, `import("volley-mcp")`. */
const imported = /\b(?:from|import)[ (]*["'](volley-mcp(?:\/[^"']*)?)["']/g;
const known = new Set(entries.map((entry) => entry.specifier));
const texts = globSync(["README.md", "AGENTS.md", "docs/**/*.md", "src/**/*.ts", "examples/**/*.ts"], { cwd: root });
for (const file of texts) {
  for (const [, specifier = ""] of readFileSync(root + file, "utf8").matchAll(imported)) {
    if (!known.has(specifier)) problems.push(`${file} imports "${specifier}", which is no subpath`);
  }
}

for (const problem of problems) console.log(problem);
console.log(`${entries.length} subpaths, ${texts.length} texts, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
