// The public names of every subpath, compared with test/exports.snapshot.txt: a name comes or goes on purpose only.
// `--update` writes the file.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import ts from "typescript";
import { entries } from "./package.ts";
import { root } from "./run.ts";

const path = `${root}test/exports.snapshot.txt`;

/** One line a name, such as `volley-mcp/client connect` or `volley-mcp type Context`. */
function publicNames(): string[] {
  const files = entries.map((entry) => root + entry.types.slice(2));
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    noEmit: true,
  });
  const checker = program.getTypeChecker();
  return entries.flatMap(({ specifier, types }, index) => {
    const file = program.getSourceFile(files[index] ?? "");
    const module = file && checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${specifier} exports nothing: is ${types} built?`);
    const names = checker.getExportsOfModule(module).map((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return `${specifier} ${target.flags & ts.SymbolFlags.Value ? "" : "type "}${symbol.name}`;
    });
    return names.sort();
  });
}

const names = publicNames();
if (process.argv.includes("--update")) {
  writeFileSync(path, `${names.join("\n")}\n`);
  console.log(`wrote ${names.length} names`);
} else {
  const before = existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  const changes = [
    ...names.filter((name) => !before.includes(name)).map((name) => `+ ${name}`),
    ...before.filter((name) => !names.includes(name)).map((name) => `- ${name}`),
  ];
  for (const change of changes) console.log(change);
  console.log(`${names.length} names, ${changes.length} changed`);
  if (changes.length > 0) {
    console.log("on purpose? node scripts/exports-snapshot.ts --update");
    process.exitCode = 1;
  }
}
