// What importing one file loads: the files and Node built-ins that its static imports reach, in packages too.
import { build } from "esbuild";
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
