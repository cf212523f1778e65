// The shop of these tests as a process of a runtime, on a free port of the loopback.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { devNode } from "../../scripts/listening.ts";
import { root } from "../../scripts/run.ts";

export const RUNTIMES = ["Node", "Bun", "Deno", "workerd"] as const;
export type Runtime = (typeof RUNTIMES)[number];

export interface Shop {
  readonly url: string;
  stop(): void;
}

const START_MS = 20_000;
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
  const [command, ...args] = await commandOf(runtime, folder);
  const child = spawn(command, args, {
    cwd: here,
    env: { ...process.env, SHOP_KEY: key },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const port = await portOf(child, runtime);
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => void child.kill("SIGKILL") };
}

async function commandOf(runtime: Runtime, folder: string): Promise<[string, ...string[]]> {
  switch (runtime) {
    case "Node":
      return [devNode, "node.mjs"];
    case "Bun":
      return [program("bun"), "bun.mjs"];
    case "Deno":
      return [program("deno"), "run", "--quiet", "--no-prompt", "--allow-net=127.0.0.1", "--allow-env", "deno.mjs"];
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
      return [program("workerd"), "serve", `--import-path=${folder}`, "workerd.capnp", "--control-fd=1"];
  }
}

/** The first port that it says it listens on. */
async function portOf(child: ChildProcess, runtime: Runtime): Promise<number> {
  const said: string[] = [];
  const tooLate = setTimeout(() => child.kill("SIGKILL"), START_MS);
  child.stderr?.on("data", (chunk) => said.push(String(chunk)));
  if (child.stdout === null) throw new Error("no output");
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    const port = /port"?:? ?(\d+)/.exec(line)?.[1];
    if (port === undefined) continue;
    clearTimeout(tooLate);
    child.stdout.resume();
    return Number(port);
  }
  clearTimeout(tooLate);
  throw new Error(`${runtime} did not start:\n${said.join("\n")}`);
}
