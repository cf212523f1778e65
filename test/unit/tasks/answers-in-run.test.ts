// Answers that come while a worker has the task: the session between the store and the run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock, type TaskAsk } from "../../../src/flow/index.ts";
import { createKeyring } from "../../../src/state/index.ts";
import { arrived, type TaskData } from "../../../src/tasks/data.ts";
import { takeResponses } from "../../../src/tasks/methods.ts";
import { type FoundTask, TaskRecords } from "../../../src/tasks/records.ts";
import { TaskSession } from "../../../src/tasks/session.ts";
import { createSqliteEngine } from "../../../src/tasks/sqlite.ts";
import type { TaskEngine } from "../../../src/tasks.ts";
import { newRecord } from "../../tasks/contract.ts";
import { hasSqlite, KEY } from "./harness.ts";

const ann = { action: "accept", content: { name: "Ann" } };

function ask(key: string, tries = 0): TaskAsk {
  const params = { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } } as const;
  const request = { method: "elicitation/create", params } as const;
  return { key, identity: `${key}/${tries}`, request, question: [key, "form", tries, null, 0, 0], reason: "" };
}

describe.runIf(hasSqlite)("answers that come while a worker has the task", () => {
  let folder: string;
  let open: { close(): unknown }[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "volley-answers-"));
    open = [];
  });
  afterEach(async () => {
    for (const each of open.reverse()) await each.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const records = (engine: TaskEngine): TaskRecords => new TaskRecords(engine, createKeyring([KEY]), systemClock);
  const engine = (): TaskEngine => {
    const made = createSqliteEngine({ path: join(folder, "tasks.db") });
    open.push(made);
    return made;
  };
  /** A task that a session has, and what its run was told. */
  const begin = async (own: TaskRecords, id = "t") => {
    const { sealed: _, owner: __, ...head } = newRecord({ id, expiresAt: Date.now() + 60_000, epoch: 1 });
    const leased = { ...head, leaseUntil: Date.now() + 30_000, keepUntil: Date.now() + 60_000 };
    const data: TaskData = {
      target: "job",
      arguments: {},
      client: { info: undefined, capabilities: {} },
      principal: { type: "anonymous" },
      answersBefore: "",
      sep: false,
      statusMessage: undefined,
      body: { j: [] },
      asks: new Map(),
      keys: new Map(),
      answers: new Map(),
      stalls: 0,
    };
    const taken = (await own.create(leased, data, 10)) as FoundTask;
    const session = new TaskSession(own, taken, arrived(taken.data).wires, 30_000);
    open.push({ close: () => session.handOver() });
    const told: Record<string, unknown>[] = [];
    session.onAnswers((answers) => void told.push({ ...answers }));
    return { session, told };
  };
  const answer = async (by: TaskRecords, responses: object): Promise<void> =>
    takeResponses(by, (await by.read("t")) as FoundTask, responses);
  const stored = async (of: TaskRecords): Promise<TaskData> => ((await of.read("t")) as FoundTask).data;

  test("attack 13: one that this process takes is told at once, and each once", async () => {
    const own = records(engine());
    const { session, told } = await begin(own);
    await session.save({ body: { j: [] }, asks: [ask("a"), ask("b")] });
    await answer(own, { a: ann });
    expect(told).toEqual([{ a: ann }]);
    await answer(own, { b: ann });
    await session.save({ body: { j: [] }, asks: [ask("a"), ask("b")] });
    expect(told).toEqual([{ a: ann }, { b: ann }]);
  });

  test("attack 13: one that another process takes is told within a second, although nothing is written", async () => {
    const own = records(engine());
    const { session, told } = await begin(own);
    await session.save({ body: { j: [] }, asks: [ask("a")] });
    await answer(records(engine()), { a: ann });
    expect(told).toEqual([]);
    await vi.waitFor(() => expect(told).toEqual([{ a: ann }]), { timeout: 1_000, interval: 10 });
  });

  test("attack 13: a write of the session meets one that another process has taken", async () => {
    const own = records(engine());
    const { session, told } = await begin(own);
    await session.save({ body: { j: [] }, asks: [ask("a")] });
    await answer(records(engine()), { a: ann });
    await session.save({ body: { j: ["step"] }, asks: [ask("a")] });
    expect(told).toEqual([{ a: ann }]);
  });

  test("attack 13: it is taken once its question is not asked any more, and until then not lost with the worker", async () => {
    const own = records(engine());
    const { session, told } = await begin(own);
    await session.save({ body: { j: [] }, asks: [ask("a")] });
    await answer(own, { a: ann });
    // A step ends before the answer's turn has come.
    await session.save({ body: { j: ["step"] }, asks: [ask("a")] });
    expect({ ...arrived(await stored(own)).answers }).toEqual({ a: ann });
    await session.save({ body: { j: ["step", "a"] }, asks: [] });
    expect((await stored(own)).answers).toEqual(new Map([["a", null]]));
    expect(told).toEqual([{ a: ann }]);
  });

  test("attack 13, T3: one that was of no use is taken too, and the question that comes again has a key of its own", async () => {
    const own = records(engine());
    const { session, told } = await begin(own);
    await session.save({ body: { j: [] }, asks: [ask("a")] });
    await answer(own, { a: ann });
    await session.save({ body: { j: [] }, asks: [ask("a", 1)] });
    const { asks, answers } = await stored(own);
    expect([[...asks.keys()], [...answers]]).toEqual([["a#2"], [["a", null]]]);
    await answer(own, { a: ann });
    await answer(own, { "a#2": ann });
    expect(told).toEqual([{ a: ann }, { a: ann }]);
  });

  test("nobody looks while nothing is asked", async () => {
    const quiet = engine();
    const read = vi.spyOn(quiet.store, "read");
    const { session } = await begin(records(quiet));
    await session.save({ body: { j: ["step"] }, asks: [] });
    await new Promise((resolve) => setTimeout(resolve, 1_700));
    expect(read).not.toHaveBeenCalled();
  });
});
