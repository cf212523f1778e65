// What importing one file loads: the files and Node built-ins that its static imports reach, in packages too. And how our
// own files hang together, where types count, since readers follow them as well.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import ts from "typescript";
import { root } from "./run.ts";

export interface ImportGraph {
  /** Paths from the project's root. */
  readonly files: readonly string[];
  /** Each built-in with the file that imports it first. */
  readonly builtins: ReadonlyMap<string, string>;
}

/**
 * Follows import statements and `require`; type-only imports load nothing.
 *
 * @param lazy follow `import()` too, as a bundler does that makes one file
 */
export async function importGraph(entry: string, lazy = false): Promise<ImportGraph> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    treeShaking: false,
    ignoreAnnotations: true,
    logLevel: "silent",
  });
  const files = new Set<string>([entry.replace(/^\.\//, "")]);
  const builtins = new Map<string, string>();
  // A Set hands out what is added while it is walked.
  for (const file of files) {
    for (const imported of metafile.inputs[file]?.imports ?? []) {
      if (imported.kind === "dynamic-import" && !lazy) continue;
      if (!imported.external) files.add(imported.path);
      else if (!builtins.has(imported.path)) builtins.set(imported.path, file);
    }
  }
  return { files: [...files], builtins };
}

/** What each file of a folder imports of our own, types included: paths from the project's root. */
export function sourceGraph(folder: string): Map<string, readonly string[]> {
  const files = globSync(`${folder}/**/*.ts`, { cwd: root }).sort();
  return new Map(
    files.map((file) => {
      const relative = specifiersIn(file).filter((specifier) => specifier.startsWith("."));
      return [file, relative.map((specifier) => join(dirname(file), specifier))];
    }),
  );
}

/** Whatever a file imports: statements, types and `import()`. */
export function specifiersIn(file: string): string[] {
  return ts.preProcessFile(readFileSync(root + file, "utf8")).importedFiles.map(({ fileName }) => fileName);
}

/** The imports, as `a -> b`, that lie on circles or between two of them. */
export function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Map(graph);
  const leads = (file: string): boolean => (left.get(file) ?? []).some((target) => left.has(target));
  const isLedTo = (file: string): boolean => [...left.values()].some((targets) => targets.includes(file));
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const file of left.keys()) if (!leads(file) || !isLedTo(file)) left.delete(file);
  }
  return [...left].flatMap(([file, targets]) =>
    targets.filter((target) => left.has(target)).map((target) => `${file} -> ${target}`),
  );
}
