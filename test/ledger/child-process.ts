import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { devNode } from "../../scripts/listening.ts";
import type { ChildTask } from "./child.ts";

/** A process that uses a ledger. */
export interface Child {
  /** The next line that it says. */
  said(): Promise<string>;
  /** Lets it go on. */
  tell(): void;
  kill(): Promise<void>;
}

export function startChild(task: ChildTask): Child {
  const file = fileURLToPath(new URL("child.ts", import.meta.url));
  const process = spawn(devNode, ["--disable-warning=ExperimentalWarning", file, JSON.stringify(task)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  return {
    async said() {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the process with ${task.task} ended and said nothing`);
      return value;
    },
    tell() {
      process.stdin.write("\n");
    },
    async kill() {
      const gone = once(process, "exit");
      process.kill("SIGKILL");
      await gone;
    },
  };
}
