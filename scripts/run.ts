// How the other scripts run a program: its output is kept and shown only when it fails, or passed through.
import { spawn } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

export const root: string = fileURLToPath(new URL("..", import.meta.url));

/** As npm sets it: programs of packages first, so that `node` is the development Node. */
const env = { ...process.env, PATH: `${root}node_modules/.bin${delimiter}${process.env.PATH ?? ""}` };

interface Ran {
  readonly ok: boolean;
  readonly output: string;
  readonly seconds: number;
}

/** Runs `command` in the project's root; `show` passes its output through instead of keeping it. */
export function run(command: string, args: readonly string[], options: { show?: boolean } = {}): Promise<Ran> {
  const started = performance.now();
  const output = options.show ? "inherit" : "pipe";
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["ignore", output, output],
    env: options.show ? env : { ...env, NO_COLOR: "1", FORCE_COLOR: "0" },
  });
  const chunks: unknown[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => chunks.push(chunk));
  return new Promise((resolve) => {
    const end = (ok: boolean): void =>
      resolve({ ok, output: chunks.join("").trim(), seconds: (performance.now() - started) / 1000 });
    child.on("error", (error) => {
      chunks.push(error.message);
      end(false);
    });
    child.on("close", (status) => end(status === 0));
  });
}

/** The program of an npm package. */
export function bin(name: string): string {
  return `${root}node_modules/.bin/${name}`;
}

/** One line a stage: how it went, its name, how long it took. */
export function line(ok: boolean, name: string, seconds: number): string {
  return `${ok ? "ok  " : "FAIL"} ${name.padEnd(44)} ${seconds.toFixed(1).padStart(6)} s`;
}
