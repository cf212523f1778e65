// Starts a program of ours that prints `listening URL` once it serves. Used by scripts and by tests with real processes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { root } from "./run.ts";

export interface Listening {
  readonly url: string;
  /** Ends the process and waits until it is gone. */
  stop(): Promise<void>;
}

/**
 * Runs `node <args>` in the project's root with the development Node. Its stderr is shown only when it does not start.
 *
 * @throws Error when the program ends, or 20 seconds pass, before the line is there.
 */
export async function startListening(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Listening> {
  const child = spawn(devNode, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const complaints: unknown[] = [];
  child.stderr.on("data", (chunk) => complaints.push(chunk));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill();
    const stubborn = setTimeout(() => child.kill("SIGKILL"), 5_000);
    await gone;
    clearTimeout(stubborn);
  };
  const tooLate = setTimeout(() => child.kill("SIGKILL"), 20_000);
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^listening (\S+)$/.exec(line)?.[1];
    if (url === undefined) continue;
    clearTimeout(tooLate);
    child.stdout.resume();
    child.stderr.removeAllListeners("data").resume();
    return { url, stop };
  }
  clearTimeout(tooLate);
  await stop();
  throw new Error(`"node ${args.join(" ")}" ended before it was listening:\n${complaints.join("")}`);
}

/** The Node of the npm package `node`, which runs TypeScript as it is, whatever Node runs this. */
export const devNode: string = `${root}node_modules/.bin/node`;
