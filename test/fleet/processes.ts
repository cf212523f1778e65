// The processes of the fleet and their supervisor, which starts anew whatever has died.
import { type ChildProcess, spawn } from "node:child_process";
import { devNode } from "../../scripts/listening.ts";
import type { Program } from "./program.ts";
import { GO_ON, type Said } from "./server-task.ts";

const RESTART_MS = 50;
const MOST_DEATHS = 20;

/** @template Task what a process is told at its start */
export interface Supervised<Task extends object> {
  /** Kills it (SIGKILL) and resolves when its successor serves. */
  kill(): Promise<void>;
  /** Stops it (SIGSTOP) for longer than a lease, and resolves when it goes on. */
  stop(): Promise<void>;
  /** Ends it in good order, and resolves when its successor serves, with these settings changed. */
  restart(change: Partial<Task>): Promise<void>;
  /** Changes settings while it runs: it is sent what changes. */
  tell(change: Partial<Task>): void;
  /** How many bytes its live heap has. */
  weigh(): Promise<number>;
  close(): Promise<void>;
}

/** A process that is to be stopped. */
export interface Stoppable {
  readonly pid: number;
  stop(): void;
  goOn(): void;
}

/** Hears of every death, and decides on every stop. */
export interface Watch {
  died(signal: NodeJS.Signals | null): void;
  /** A process is to be stopped, once that may be, for longer than a lease. */
  stop(process: Stoppable): Promise<void>;
}

export async function supervise<Task extends object>(
  program: Program,
  first: Task,
  watch: Watch,
): Promise<Supervised<Task>> {
  let task = first;
  let child: ChildProcess;
  let closing = false;
  /** In a row. While its store is gone none can start. */
  let deaths = 0;
  let waiting: (() => void)[] = [];
  let weighing: ((bytes: number) => void)[] = [];

  const ready = (): Promise<void> => new Promise((resolve) => void waiting.push(resolve));

  const ask = (asked: Partial<Task> | "weigh"): void => void child.send(asked, () => {});

  const stop = (stopped: ChildProcess): Promise<void> =>
    watch.stop({
      pid: stopped.pid ?? 0,
      stop: () => void stopped.kill("SIGSTOP"),
      goOn: () => void stopped.kill("SIGCONT"),
    });

  /** The same for a process that asks for it, and waits until it was. */
  const stopAsAsked = async (asking: ChildProcess): Promise<void> => {
    await stop(asking);
    if (asking.connected) asking.send(GO_ON, () => {});
  };

  const hear = (said: Said): void => {
    if ("weighs" in said) {
      for (const resolve of weighing) resolve(said.weighs);
      weighing = [];
    } else if (said.type === "stopping") void stopAsAsked(child);
    else {
      deaths = 0;
      for (const resolve of waiting) resolve();
      waiting = [];
      // Its predecessor may have died over it.
      if (weighing.length > 0) ask("weigh");
    }
  };

  const start = (): void => {
    const flags = ["--expose-gc", "--disable-warning=ExperimentalWarning"];
    child = spawn(devNode, [...flags, program.path, JSON.stringify(task)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { ...process.env, ...program.env },
    });
    child.on("message", hear);
    child.once("exit", (_code, signal) => {
      watch.died(signal);
      deaths += 1;
      if (closing) return;
      if (deaths > MOST_DEATHS) throw new Error("A process of the fleet cannot start: see above.");
      setTimeout(start, RESTART_MS);
    });
  };

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const next = ready();
    child.kill(signal);
    await next;
  };

  const served = ready();
  start();
  await served;
  return {
    kill: () => end("SIGKILL"),
    stop: () => stop(child),
    async restart(change) {
      task = { ...task, ...change };
      await end("SIGTERM");
    },
    tell(change) {
      task = { ...task, ...change };
      if (child.connected) ask(change);
    },
    weigh: () =>
      new Promise((resolve) => {
        weighing.push(resolve);
        if (child.connected) ask("weigh");
      }),
    async close() {
      closing = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    },
  };
}
