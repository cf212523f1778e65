import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, describe, expect, test } from "vitest";
import { createSqliteEngine } from "../../../src/tasks/sqlite.ts";
import { describeEngine, newRecord } from "../../tasks/contract.ts";

const folder = mkdtempSync(join(tmpdir(), "volley-tasks-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(process.getBuiltinModule?.("node:sqlite") === undefined)("tasks in SQLite", () => {
  describeEngine("sqlite", () => createSqliteEngine({ path: join(folder, "contract.db") }));

  test("case 44: what was stored is there after the file is opened again, and for another process at once", async () => {
    const path = join(folder, "again.db");
    const first = createSqliteEngine({ path });
    const record = newRecord();
    await first.store.create(record);
    const second = createSqliteEngine({ path });
    expect((await second.store.read(record.id))?.ttlMs).toBe(60_000);
    await first.close();
    const third = createSqliteEngine({ path });
    expect((await third.store.read(record.id))?.owner).toBe("owner");
    await second.close();
    await third.close();
  });

  test("a path that cannot be one is refused with its name", () => {
    expect(() => createSqliteEngine({ path: join(folder, "no", "such.db") })).toThrow(/createSqliteEngine cannot open/);
    expect(() => createSqliteEngine({ path: ":memory:" })).toThrow(/a file on a local disk/);
  });
});
