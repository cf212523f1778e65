// Runs the demo as `npm start` does, also in a terminal.
import { type ChildProcess, spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { devNode } from "../../scripts/listening.ts";
import { root } from "../../scripts/run.ts";

export const PATIENCE_MS = 60_000;
const DEMO = "examples/demo/main.ts";

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** What a person types once they see a text. */
export type Script = readonly (readonly [seen: string, keys: string])[];

function ended(child: ChildProcess, script: Script = []): Promise<Ended> {
  let out = "";
  let err = "";
  let from = 0;
  const lines = [...script];
  child.stderr?.on("data", (chunk) => {
    err += chunk;
  });
  child.stdout?.on("data", (chunk) => {
    out += stripVTControlCharacters(String(chunk));
    const [seen, keys] = lines[0] ?? [];
    if (seen === undefined || !out.includes(seen, from)) return;
    from = out.length;
    lines.shift();
    child.stdin?.write(keys);
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

export function demo(...args: string[]): Promise<Ended> {
  return ended(spawn(devNode, [DEMO, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] }));
}

/** Runs the demo in a pseudo terminal. */
export function demoInTerminal(script: Script, ...args: string[]): Promise<Ended> {
  const command = `stty cols 160 rows 50; exec ${devNode} ${DEMO} ${args.join(" ")}`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd: root,
    env: { ...process.env, TERM: "xterm", SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  return ended(child, script);
}

/** Who served each round. */
export function instances(out: string): string[] {
  return [...out.matchAll(/^round \d+ +(\S+) /gm)].map(([, name]) => String(name));
}
