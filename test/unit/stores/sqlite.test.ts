import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqlite, type SqliteFile } from "../../../src/stores/index.ts";

// Node 20 has no node:sqlite.
describe.runIf(process.getBuiltinModule?.("node:sqlite") !== undefined)("a file that processes share", () => {
  let folder: string;
  let file: SqliteFile;
  const open = (path: string): SqliteFile =>
    openSqlite({
      caller: "createThing",
      otherwise: "another thing",
      path,
      schema: "create table if not exists thing (id integer primary key) strict;",
      timeoutMs: 100,
    });
  const insert = (id: number) => () => void file.db.prepare("insert into thing values (?)").run(id);
  const ids = (): Promise<unknown[]> =>
    file.read(() =>
      file.db
        .prepare("select id from thing order by id")
        .all()
        .map(({ id }) => id),
    );
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "volley-stores-"));
    file = open(join(folder, "thing.db"));
  });
  afterEach(() => {
    file.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("writes that come together are one transaction: all of them count, or none", async () => {
    await Promise.all([file.write(insert(1)), file.write(insert(2))]);
    expect(await ids()).toEqual([1, 2]);
    const told = await Promise.allSettled([file.write(insert(3)), file.write(insert(1))]);
    expect(told.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await ids()).toEqual([1, 2]);
    await file.write(insert(3));
    expect(await ids()).toEqual([1, 2, 3]);
  });

  test("a write waits for another process, and no longer than it may", async () => {
    const other = open(join(folder, "thing.db"));
    other.db.exec("begin immediate");
    await expect(file.write(insert(1))).rejects.toThrow(/locked/);
    const later = file.write(insert(2));
    setTimeout(() => other.db.exec("commit"), 30);
    await later;
    expect(await ids()).toEqual([2]);
    other.close();
  });

  test("what cannot be such a file is refused in the name of the function that was called", () => {
    expect(() => open(":memory:")).toThrow(/createThing needs a file on a local disk; ":memory:"/);
    expect(() => open(join(folder, "none", "thing.db"))).toThrow(/createThing cannot open ".*none/);
  });
});
