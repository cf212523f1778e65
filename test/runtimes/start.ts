// The shop of these tests as a process of a runtime, on a free port of the loopback.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { devNode } from "../../scripts/listening.ts";
import { root } from "../../scripts/run.ts";
import { endProgram, freePort, startProgram } from "../support/private-server.ts";

export const RUNTIMES = ["Node", "Bun", "Deno", "workerd"] as const;
export type Runtime = (typeof RUNTIMES)[number];

export interface Shop {
  readonly url: string;
  stop(): Promise<void>;
}

const here = fileURLToPath(new URL(".", import.meta.url));
const program = (name: string): string => join(here, "programs/node_modules/.bin", name);

/** Whether the runtime is installed. Where it is missing its tests are listed as not run, which fails where `CI=true`. */
export function hasRuntime(runtime: Runtime): boolean {
  if (runtime === "Node" || existsSync(program(runtime.toLowerCase()))) return true;
  if (process.env.CI === "true") throw new Error(`${runtime} is missing: node scripts/setup.mjs --tests`);
  return false;
}

/** @param folder where a bundle may be written */
export async function startShop(runtime: Runtime, key: string, folder: string): Promise<Shop> {
  if (!existsSync(`${root}dist/index.js`)) throw new Error("The package is not built: npm run build");
  const port = String(await freePort());
  const [path, ...args] = await commandOf(runtime, port, folder);
  const child = await startProgram({ path, args, ready: /listen/, env: { SHOP_KEY: key, SHOP_PORT: port } });
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => endProgram(child, "SIGKILL") };
}

async function commandOf(runtime: Runtime, port: string, folder: string): Promise<[string, ...string[]]> {
  switch (runtime) {
    case "Node":
      return [devNode, join(here, "node.mjs")];
    case "Bun":
      return [program("bun"), join(here, "bun.mjs")];
    case "Deno":
      return [
        program("deno"),
        "run",
        "--quiet",
        "--no-prompt",
        "--allow-net=127.0.0.1",
        "--allow-env",
        join(here, "deno.mjs"),
      ];
    case "workerd":
      // It reads no packages: its users bundle.
      await build({
        entryPoints: [join(here, "workerd.mjs")],
        outfile: join(folder, "worker.mjs"),
        bundle: true,
        format: "esm",
        target: "es2024",
        external: ["node:*"],
        logLevel: "error",
      });
      return [
        program("workerd"),
        "serve",
        `--import-path=${folder}`,
        `--socket-addr=http=127.0.0.1:${port}`,
        "--control-fd=1",
        join(here, "workerd.capnp"),
      ];
  }
}
