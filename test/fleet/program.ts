// A program of the fleet as one file: processes of the fleet start often, and so in a third of the time.
import { mkdirSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export interface Program {
  readonly path: string;
  /** What its processes need to have in their environment. */
  readonly env: NodeJS.ProcessEnv;
  remove(): Promise<void>;
}

/** @param entry its main module */
export async function buildProgram(entry: URL): Promise<Program> {
  // Inside the project, where its packages are found.
  const cache = fileURLToPath(new URL("../../.volley/", import.meta.url));
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "fleet-"));
  const path = join(folder, "program.js");
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile: path,
    bundle: true,
    // Packages that are no modules.
    external: ["bullmq", "ioredis", "pg"],
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  return { path, env: { NODE_COMPILE_CACHE: folder }, remove: () => rm(folder, { recursive: true, force: true }) };
}
