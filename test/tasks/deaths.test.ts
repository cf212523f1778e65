// Workers that die again and again, or sleep for longer than their lease, around one file of tasks.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { devNode } from "../../scripts/listening.ts";
import { hasSqlite, KEY, type Rig, rig } from "../unit/tasks/harness.ts";
import { readLines, registerLogged } from "./logged-tools.ts";
import type { WorkerTask } from "./worker-process.ts";

describe.runIf(hasSqlite)("workers that die or sleep", { timeout: 120_000 }, () => {
  let folder: string;
  let file: string;
  let on: Rig;
  let worker: ChildProcess | undefined;
  /** Whether a new worker follows one that died. */
  let open: boolean;
  let lives: number;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "volley-deaths-"));
    file = join(folder, "steps.jsonl");
    writeFileSync(file, "");
    on = await rig((server) => registerLogged(server, file), { path: join(folder, "tasks.db"), worker: false });
    open = true;
    lives = 0;
  });
  afterEach(async () => {
    open = false;
    const gone = worker && once(worker, "exit");
    worker?.kill("SIGKILL");
    await gone;
    await on[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const startWorker = (): void => {
    const location = join(folder, "tasks.db");
    const task: WorkerTask = {
      kind: "sqlite",
      location,
      file,
      keys: [KEY],
      leaseMs: 500,
      ledger: join(folder, "once.db"),
    };
    const path = fileURLToPath(new URL("worker-process.ts", import.meta.url));
    worker = spawn(devNode, ["--disable-warning=ExperimentalWarning", path, JSON.stringify(task)], { stdio: "ignore" });
    lives += 1;
    void once(worker, "exit").then(() => open && startWorker());
  };
  const ended = async (taskId: string): Promise<string> => {
    for (;;) {
      const { status, result } = await on.get(taskId);
      if (status !== "working") return result?.content[0].text ?? status;
      await delay(50);
    }
  };

  test("attack 15: a worker that slept over its lease does not begin an effect of a task that was cancelled meanwhile", async () => {
    const { taskId } = await on.call("deploy", { n: 1 });
    startWorker();
    await vi.waitFor(() => expect(readLines(file).map(({ step }) => step)).toEqual(["1 build", "1 build"]), {
      timeout: 10_000,
    });
    await delay(1_000);
    await on.cancel(taskId);
    expect((await on.get(taskId)).status).toBe("cancelled");
    await delay(2_500);
    expect(readLines(file).filter(({ step }) => step === "1 release")).toEqual([]);
    expect((await on.get(taskId)).status).toBe("cancelled");
    expect(lives).toBe(1);
  });

  test("attack 19: a task that gets on is never given up, however many workers die", async () => {
    const { taskId } = await on.call("uphill", { n: 1 });
    startWorker();
    expect(await ended(taskId)).toBe("up");
    expect(lives).toBe(15);
    const steps = Array.from({ length: 30 }, (_, at) => `1 step:${at + 1}`);
    expect(readLines(file).map(({ step }) => step)).toEqual(steps);
  });

  test("attack 19: what kills its workers fails for good, and takes none of ten others with it", async () => {
    const { taskId } = await on.call("poison");
    const innocent = await Promise.all(Array.from({ length: 10 }, (_, n) => on.call("innocent", { n })));
    startWorker();
    expect(await Promise.all(innocent.map((task) => ended(task.taskId)))).toEqual(
      Array.from({ length: 10 }, (_, n) => `work ${n}`),
    );
    expect(await ended(taskId)).toBe("failed");
    expect(lives).toBe(12);
  });
});
