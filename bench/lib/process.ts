import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The processor that contestants run on, and the one that load comes from. */
export const CONTESTANT_CPU = 0;
export const LOAD_CPU = 1;

/** Contestants wait while others are measured, and Node forgets code that was not run for a while, as it never does for a busy server. */
export const STAY_COMPILED = ["--no-flush-bytecode", "--no-memory-reducer"];

/** A contestant: a process of its own, pinned to one processor, spoken to over Node's IPC channel. */
export interface Contestant {
  readonly pid: number;
  /** What the process said when it was ready. */
  readonly ready: unknown;
  /** Milliseconds from the start of the process to its being ready. */
  readonly startMs: number;
  /** Sends one message and resolves with the next one from the process; one question at a time. */
  ask(message: unknown): Promise<unknown>;
  /** CPU time of all threads since the start, user and system, in microseconds. */
  cpuMicros(): number;
  stop(): Promise<void>;
}

/**
 * Starts a program of the bench as a contestant.
 *
 * @param program file of the program, relative to `bench/`
 * @param options handed to it as JSON in its first argument
 * @param flags for Node itself
 */
export async function startContestant(
  program: string,
  options: unknown = {},
  cpu: number = CONTESTANT_CPU,
  flags: readonly string[] = [],
): Promise<Contestant> {
  const file = fileURLToPath(new URL(`../${program}`, import.meta.url));
  const started = performance.now();
  const node = [process.execPath, "--expose-gc", ...STAY_COMPILED, ...flags];
  const child = spawn("taskset", ["-c", String(cpu), ...node, file, JSON.stringify(options)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const ready = await nextMessage(child, program);
  const startMs = performance.now() - started;
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${program} has no process id`);
  return {
    pid,
    ready,
    startMs,
    ask(message: unknown): Promise<unknown> {
      const answer = nextMessage(child, program);
      child.send(message as object);
      return answer;
    },
    cpuMicros: () => cpuMicros(pid),
    stop: () => stop(child),
  };
}

/** CPU time that a process and its threads have used: the kernel says it in nanoseconds here, and in ticks of 10 ms in `stat`. */
export function cpuMicros(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanos = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanos.reduce((sum, each) => sum + each, 0) / 1000;
}

function nextMessage(child: ChildProcess, program: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      child.off("message", onMessage).off("exit", onExit).off("error", onError);
      act();
    };
    const onMessage = (message: unknown): void => settle(() => resolve(message));
    const onError = (cause: Error): void => settle(() => reject(cause));
    const onExit = (code: number | null, signal: string | null): void =>
      settle(() => reject(new Error(`${program} ended early (${signal ?? `exit code ${code}`})`)));
    child.on("message", onMessage).on("exit", onExit).on("error", onError);
  });
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}
