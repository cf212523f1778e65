// What package.json says, read once for the scripts that check it.
import { readFileSync } from "node:fs";
import { root } from "./run.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
}

export interface Entry {
  /** As its user writes it: `volley-mcp/client`. */
  readonly specifier: string;
  readonly types: string;
  readonly code: string;
  /** The TypeScript file that it is built from. */
  readonly source: string;
}

export const manifest: Manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

/** Every subpath that holds code, in the order of package.json. */
export const entries: readonly Entry[] = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
  typeof target === "string"
    ? []
    : {
        specifier: manifest.name + subpath.slice(1),
        types: target.types,
        code: target.default,
        source: target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts"),
      },
);
