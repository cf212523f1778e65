// Real processes that die, stop and come back around one file of tasks.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { devNode } from "../../scripts/listening.ts";
import { generateKey } from "../../src/state.ts";
import { ALL, hasSqlite } from "../unit/tasks/harness.ts";
import type { TasksProcess } from "./tasks-server.ts";
import { type Answer, accept, type Leg, message, type Wire, wireTo } from "./wire.ts";

const KEY = generateKey();
const ann = { name: accept({ name: "Ann" }) };

interface Running {
  readonly wire: Wire;
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves when it is gone, by whichever hand. */
  readonly gone: Promise<unknown>;
}

let folder: string;
const running: Running[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "volley-crash-"));
});
afterEach(async () => {
  for (const { child, wire } of running.splice(0)) {
    child.kill("SIGKILL");
    await wire[Symbol.asyncDispose]();
  }
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: Partial<TasksProcess> = {}): Promise<Running> {
  const all = { path: join(folder, "tasks.db"), log: join(folder, "log"), ...options };
  const child = spawn(devNode, ["test/spec/tasks-server.ts", JSON.stringify(all)], {
    env: { ...process.env, VOLLEY_KEYS: KEY },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const gone = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url = "", pid] = line.split(" ");
    child.stdout.resume();
    const started = { wire: wireTo(url), child, pid: Number(pid), gone };
    running.push(started);
    return started;
  }
  throw new Error("It did not start.");
}

const log = (): string[] => {
  try {
    return readFileSync(join(folder, "log"), "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
};
/** What was noted, without and with who noted it. */
const count = (text: string): number => log().filter((line) => line.replace(/ \d+$/, "") === text).length;

const leg = (more: Leg = {}): Leg => ({ can: ALL, token: "alice", ...more });

/** Asks by rounds; the last round, which makes the task. */
async function ask({ wire }: Running): Promise<Leg> {
  const { json } = await wire.call("job", leg());
  return leg({ state: json.result.requestState, answers: ann });
}

function get({ wire }: Running, taskId: string, token = "alice"): Promise<Answer> {
  return wire.send(message("tasks/get", { taskId }, leg()), { "mcp-name": taskId, authorization: `Bearer ${token}` });
}

async function completed(at: Running, taskId: string): Promise<{ name: string; first: number; second: number }> {
  return await vi.waitFor(
    async () => {
      const { json } = await get(at, taskId);
      if (json.result?.status !== "completed") throw new Error(JSON.stringify(json));
      return JSON.parse(json.result.result.content[0].text);
    },
    { timeout: 15_000, interval: 50 },
  );
}

describe.skipIf(!hasSqlite)("tasks over crashes", { timeout: 60_000 }, () => {
  test("T7, case 44: killed before its first step, found and finished after a restart, by its principal only", async () => {
    const first = await start();
    const handle = await first.wire.call("job", await ask(first));
    const { taskId } = handle.json.result;
    first.child.kill("SIGKILL");
    await (await start({ worker: true, die: "begun" })).gone;
    expect([count("begun"), count("first")]).toEqual([1, 0]);

    const second = await start({ worker: true });
    expect((await get(second, taskId, "bob")).json.error).toEqual({ code: -32602, message: "Task not found" });
    expect(await completed(second, taskId)).toEqual({ name: "Ann", first: second.pid, second: second.pid });
    expect((await get(second, taskId, "alice-refreshed")).json.result.status).toBe("completed");
    expect((await get(second, taskId, "alice-tenant")).json.error.code).toBe(-32602);
  });

  test("T7: killed in its second step, finished by another process; the first step is not run again", async () => {
    const server = await start();
    const lastRound = await ask(server);
    const dying = await start({ worker: true, die: "second" });
    const { json } = await server.wire.call("job", lastRound);
    await dying.gone;
    const worker = await start({ worker: true });
    const ended = await completed(server, json.result.taskId);
    expect(ended).toEqual({ name: "Ann", first: dying.pid, second: worker.pid });
    expect([count("first"), count("second"), count("third")]).toEqual([1, 2, 1]);
  });

  test("T1, T7: killed between stored and enqueued, the task is found by the sweep, and a replay gives its handle", async () => {
    const dying = await start({ die: "stored" });
    const lastRound = await ask(dying);
    await expect(dying.wire.call("job", lastRound)).rejects.toThrow();
    await dying.gone;

    const worker = await start({ worker: true });
    await vi.waitFor(() => expect(count("third")).toBe(1), { timeout: 15_000, interval: 50 });
    const { json } = await worker.wire.call("job", lastRound);
    expect(json.result.resultType).toBe("task");
    expect(await completed(worker, json.result.taskId)).toMatchObject({ name: "Ann" });
    expect([count("first"), count("third")]).toEqual([1, 1]);
    // The task's answers are settled, also for a process that has forgotten the flow.
    const other = await worker.wire.call("job", { ...lastRound, answers: { name: accept({ name: "Eve" }) } });
    expect(other.json.result).toMatchObject({ isError: true });
  });

  test("T7: a worker that was paused and wakes after its lease changes nothing", async () => {
    const server = await start();
    const lastRound = await ask(server);
    const paused = await start({ worker: true, leaseMs: 500, secondMs: 300 });
    const { json } = await server.wire.call("job", lastRound);
    await vi.waitFor(() => expect(count("second")).toBe(1), { timeout: 15_000, interval: 5 });
    paused.child.kill("SIGSTOP");
    const worker = await start({ worker: true, leaseMs: 500 });
    const ended = await completed(server, json.result.taskId);
    expect(ended).toEqual({ name: "Ann", first: paused.pid, second: worker.pid });
    const before = (await get(server, json.result.taskId)).json;

    paused.child.kill("SIGCONT");
    await vi.waitFor(() => expect(log()).toContain(`second done ${paused.pid}`), { timeout: 15_000, interval: 20 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await get(server, json.result.taskId)).json).toEqual(before);
    expect([count("first"), count("second"), count("third")]).toEqual([1, 2, 1]);
  });
});
