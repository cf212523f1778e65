// Workers that are killed, paused and stopped while their tasks run.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { devNode } from "../../scripts/listening.ts";
import { startPostgres } from "../support/postgres.ts";
import { mayRun, type PrivateServer } from "../support/private-server.ts";
import { startRedis } from "../support/redis.ts";
import { KEY, type Rig, rig } from "../unit/tasks/harness.ts";
import { type EngineKind, openEngine } from "./engines.ts";
import { type Line, readLines, registerLogged } from "./logged-tools.ts";
import type { WorkerTask } from "./worker-process.ts";

const LEASE_MS = 1_500;
const TASKS = 50;
const KILLS = 3;
const WORKERS = 2;
const ann = { name: { action: "accept", content: { name: "Ann" } } };

const stores: readonly [EngineKind, boolean, () => Promise<PrivateServer | undefined>][] = [
  ["sqlite", process.getBuiltinModule?.("node:sqlite") !== undefined, async () => undefined],
  ["redis", mayRun("redis-server"), startRedis],
  ["postgres", mayRun("initdb"), startPostgres],
];

describe.each(stores)("tasks on %s while workers come and go", (kind, runs, start) => {
  let store: PrivateServer | undefined;
  let folder: string;
  let file: string;
  let location: string;
  let on: Rig;
  /** In the order of their start. */
  const workers = new Set<ChildProcess>();
  beforeAll(async () => {
    if (!runs) return;
    folder = mkdtempSync(join(tmpdir(), "volley-chaos-"));
    store = await start();
    location = store?.url ?? join(folder, "tasks.db");
    file = join(folder, "steps.jsonl");
  }, 60_000);
  beforeEach(async () => {
    if (!runs) return;
    writeFileSync(file, "");
    await fill();
    on = await rig((server) => registerLogged(server, file), {
      engine: await openEngine(kind, location),
      worker: false,
    });
  }, 60_000);
  afterEach(async () => {
    await on?.[Symbol.asyncDispose]();
  });
  afterAll(async () => {
    await Promise.all([...workers].map((worker) => end(worker, "SIGKILL")));
    await store?.remove();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  const startWorker = async (): Promise<void> => {
    const task: WorkerTask = { kind, location, file, keys: [KEY], leaseMs: LEASE_MS };
    const path = fileURLToPath(new URL("worker-process.ts", import.meta.url));
    const child = spawn(devNode, ["--disable-warning=ExperimentalWarning", path, JSON.stringify(task)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    workers.add(child);
    await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  };
  const fill = async (): Promise<void> => {
    await Promise.all(Array.from({ length: WORKERS - workers.size }, startWorker));
  };
  const end = async (worker: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
    workers.delete(worker);
    if (worker.exitCode !== null || worker.signalCode !== null) return;
    const gone = once(worker, "exit");
    worker.kill(signal);
    await gone;
  };
  /** The process in which a step has begun. */
  const begun = async (step: string, isNot?: ChildProcess): Promise<ChildProcess> =>
    await vi.waitFor(
      () => {
        const lines = readLines(file).filter((line) => line.what === "began" && line.step === step);
        const found = [...workers].find(({ pid }) => pid !== isNot?.pid && lines.some((line) => line.pid === pid));
        if (found === undefined) throw new Error(`${step} has not begun`);
        return found;
      },
      { timeout: 30_000, interval: 20 },
    );

  test.runIf(runs)(
    "T5, T7: of fifty tasks each ends once with its answer, and no finished step runs again",
    { timeout: 120_000 },
    async () => {
      const tasks = await Promise.all(
        Array.from({ length: TASKS }, async (_, n) => ({ n, ...(await on.call("build", { n })) })),
      );
      let kills = 0;
      const chaos = (async () => {
        for (; kills < KILLS; kills += 1) {
          await delay(500);
          await end([...workers][0] as ChildProcess, "SIGKILL");
          await fill();
        }
      })();
      const results = await Promise.all(
        tasks.map(async ({ n, taskId }) => {
          if (n % 2 === 1) {
            await until(taskId, "input_required");
            await Promise.all([on.update(taskId, ann), on.update(taskId, ann)]);
          }
          return (await until(taskId, "completed")).result.content[0].text;
        }),
      );
      await chaos;
      expect(kills).toBe(KILLS);
      expect(results).toEqual(
        tasks.map(({ n }) => [`fetch ${n}`, ...(n % 2 ? ["Ann"] : []), `compile ${n}`, `push ${n}`].join(", ")),
      );
      expect(repeated(readLines(file))).toEqual([]);
    },
  );

  test.runIf(runs)("T7: a paused worker that wakes after its lease writes nothing", { timeout: 60_000 }, async () => {
    const { taskId } = await on.call("slow", { n: 1 });
    const paused = await begun("1 first");
    paused.kill("SIGSTOP");
    await begun("1 second", paused);
    const before = await on.engine.store.read(taskId);
    paused.kill("SIGCONT");
    const ended = await until(taskId, "completed");
    expect(ended.result.content[0].text).toBe("first 1, second 1");
    const lines = readLines(file);
    expect(lines.filter(({ pid, what }) => pid === paused.pid && what === "kept")).toEqual([]);
    expect(lines.filter(({ step }) => step === "1 second")).toHaveLength(2);
    const after = await on.engine.store.read(taskId);
    expect(after?.epoch).toBe(before?.epoch);
  });

  test.runIf(runs)("T7: a worker that is stopped hands its tasks over at once", { timeout: 60_000 }, async () => {
    const { taskId } = await on.call("slow", { n: 2 });
    const first = await begun("2 second");
    const epoch = (await on.engine.store.read(taskId))?.epoch ?? 0;
    first.kill("SIGTERM");
    await begun("2 second", first);
    await end(first, "SIGTERM");
    // Given back and taken: had its lease run out, there would be one epoch more only.
    expect((await on.engine.store.read(taskId))?.epoch).toBe(epoch + 2);
    await until(taskId, "completed");
    expect(repeated(readLines(file))).toEqual([]);
  });

  // biome-ignore lint/suspicious/noExplicitAny: as `Rig.until`, for as long as machines under load need
  const until = async (taskId: string, status: string): Promise<any> => {
    for (;;) {
      const task = await on.get(taskId);
      if (task.status === status) return task;
      if (["completed", "failed", "cancelled"].includes(task.status)) throw new Error(JSON.stringify(task));
      await delay(100);
    }
  };
});

/** Steps that began again, or were kept again, after they had been kept. */
function repeated(lines: readonly Line[]): string[] {
  const kept = new Set<string>();
  return lines.flatMap(({ what, step }) => {
    const again = kept.has(step) ? [`${what} ${step}`] : [];
    if (what === "kept") kept.add(step);
    return again;
  });
}
