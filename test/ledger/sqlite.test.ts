import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createSqliteLedger } from "../../src/ledger/sqlite.ts";
import { startChild } from "./child-process.ts";
import { contract } from "./contract.ts";
import { openStore } from "./stores.ts";

const sqlite = process.getBuiltinModule("node:sqlite");
const hasSqlite = sqlite !== undefined;

describe.runIf(hasSqlite)("S9, X5, case 36: the contract of ledgers, in SQLite", () => {
  contract(async () => {
    const folder = await mkdtemp(join(tmpdir(), "volley-sqlite-"));
    const location = join(folder, "ledger.db");
    let blocker: DatabaseSync | undefined;
    return {
      open: ({ timeoutMs } = {}) => openStore("sqlite", location, timeoutMs),
      elsewhere: { kind: "sqlite", location },
      // A file does not go away, but another process may hold it.
      outage: {
        async begin() {
          blocker = new sqlite.DatabaseSync(location);
          blocker.exec("pragma busy_timeout = 5000; begin immediate");
        },
        async end() {
          blocker?.close();
        },
      },
      async count() {
        const db = new sqlite.DatabaseSync(location);
        const { rows } = db.prepare("select count(*) as rows from volley_row").get() as { rows: number };
        db.close();
        return rows;
      },
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  });

  test("many processes may open a new file at once", async () => {
    const folder = await mkdtemp(join(tmpdir(), "volley-sqlite-"));
    const location = join(folder, "ledger.db");
    const minute = Date.now() + 60_000;
    const claim = { row: "r", name: "pay", answers: {}, deadline: minute, keepUntil: minute, leaseMs: 60_000 };
    const children = Array.from({ length: 6 }, (_, index) =>
      startChild({ task: "hold", kind: "sqlite", location, claim: { ...claim, owner: `owner-${index}` } }),
    );
    const said = await Promise.all(children.map((child) => child.said()));
    expect(said.map((line) => JSON.parse(line).status).sort()).toEqual(["claimed", ...Array(5).fill("running")]);
    await Promise.all(children.map((child) => child.kill()));
    await rm(folder, { recursive: true, force: true });
  });

  test("what cannot be a shared file is refused with the reason", async () => {
    expect(() => createSqliteLedger({ path: ":memory:" })).toThrow(/needs a file on a local disk; ":memory:" has no/);
    expect(() => createSqliteLedger({ path: "/nowhere/at/all.db" })).toThrow(/cannot open "\/nowhere\/at\/all.db"/);
    const folder = await mkdtemp(join(tmpdir(), "volley-sqlite-"));
    await writeFile(
      join(folder, "text.db"),
      "no database, but a text that is long enough to be read as one. ".repeat(20),
    );
    expect(() => createSqliteLedger({ path: join(folder, "text.db") })).toThrow(/not a database/);
    await rm(folder, { recursive: true, force: true });
  });
});

describe("without node:sqlite", () => {
  afterEach(() => vi.restoreAllMocks());

  test("the refusal names the Node that is needed and the other stores", () => {
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    expect(() => createSqliteLedger({ path: "ledger.db" })).toThrow(
      expect.objectContaining({
        code: "invalid_options",
        message: expect.stringMatching(
          /^createSqliteLedger needs Node 22\.13 or newer, which has node:sqlite; this is v/,
        ),
      }),
    );
  });
});
