// A store of a test's own: a real program on a free port of the loopback, in a folder that is removed with it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { findProgram, isInstalled } from "../../scripts/needs.mjs";

/** A store that tests may start, stop and kill. */
export interface PrivateServer {
  readonly url: string;
  /** Starts it again, with what it had kept; does nothing while it runs. */
  start(): Promise<void>;
  /** Ends it as its operator would. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Ends it and removes what it kept. */
  remove(): Promise<void>;
}

/** Whether tests may use this program. Where it is missing they are listed as not run, which fails where `CI=true`. */
export function mayRun(program: string): boolean {
  if (isInstalled(program)) return true;
  if (process.env.CI === "true") throw new Error(`${program} is missing; scripts/needs.mjs says where it is from.`);
  return false;
}

export function pathOf(program: string): string {
  const path = findProgram(program);
  if (path === undefined) throw new Error(`${program} is not installed.`);
  return path;
}

/** A port of the loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

export interface Program {
  readonly path: string;
  readonly args: readonly string[];
  /** What it writes once it serves. */
  readonly ready: RegExp;
  /** Whose rights it runs with; undefined: our own. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Variables beside our own. */
  readonly env?: Readonly<Record<string, string>>;
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a program and resolves when it says that it is ready. It never outlives this process. */
export async function startProgram({ path, args, ready, user, env }: Program): Promise<ChildProcess> {
  const child = spawn(path, args, {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: "/",
    env: { ...process.env, ...env },
    ...user,
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const fail = (): void => reject(new Error(`${path} did not start:\n${said.slice(-20).join("\n")}`));
    const tooLate = setTimeout(() => child.kill("SIGKILL"), 30_000);
    child.once("error", fail).once("exit", fail);
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        if (!ready.test(line)) return;
        clearTimeout(tooLate);
        child.off("exit", fail);
        resolve();
      });
    }
  });
  return child;
}

/** Sends a signal and waits until the program is gone. */
export async function endProgram(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}
