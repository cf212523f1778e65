import { DatabaseSync } from "node:sqlite";
import { ITEMS } from "./items.ts";

export interface WorkItem {
  readonly id: number;
  readonly type: string;
  readonly state: string;
  readonly title: string;
  readonly resolution: string | null;
  readonly duplicateOf: number | null;
}

/** What is to become of a work item, and one row of its history once it has. */
export interface Change {
  readonly item: number;
  readonly state: string;
  readonly resolution: string | null;
  readonly duplicateOf: number | null;
}

/** The issue tracker that the servers work for: a system of its own, here in one file so that the demo needs no network. */
export interface Tracker {
  find(id: number): WorkItem | undefined;
  /**
   * Makes a change at most once a key, and returns what was made under that key, now or before; undefined when the item
   * is in that state already.
   */
  change(change: Change, idempotencyKey: string): Change | undefined;
  history(id: number): readonly Change[];
  close(): void;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS work_items (
    id INTEGER PRIMARY KEY, type TEXT NOT NULL, state TEXT NOT NULL, area TEXT NOT NULL, assigned_to TEXT NOT NULL,
    title TEXT NOT NULL, resolution TEXT, duplicate_of INTEGER REFERENCES work_items
  ) STRICT;
  CREATE TABLE IF NOT EXISTS changes (
    idempotency_key TEXT PRIMARY KEY, item INTEGER NOT NULL REFERENCES work_items, state TEXT NOT NULL,
    resolution TEXT, duplicate_of INTEGER REFERENCES work_items
  ) STRICT;
`;
const ITEM = "SELECT id, type, state, title, resolution, duplicate_of AS duplicateOf FROM work_items";
const CHANGE = "SELECT item, state, resolution, duplicate_of AS duplicateOf FROM changes";

/** Opens the tracker in `file`, and fills it when it is new. */
export function openTracker(file: string): Tracker {
  const db = open(file);
  db.exec(SCHEMA);

  /** All of it or nothing, and nobody else in between. */
  function transaction<T>(work: () => T): T {
    db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      db.exec("COMMIT");
      return result;
    } catch (error) {
      db.exec("ROLLBACK");
      throw error;
    }
  }

  transaction(() => {
    if (db.prepare("SELECT 1 FROM work_items").get() !== undefined) return;
    const insert = db.prepare(
      "INSERT INTO work_items (id, type, state, area, assigned_to, title) VALUES (?, ?, ?, ?, ?, ?)",
    );
    for (const item of ITEMS) insert.run(...item);
  });

  const find = db.prepare(`${ITEM} WHERE id = ?`);
  const made = db.prepare(`${CHANGE} WHERE idempotency_key = ?`);
  const history = db.prepare(`${CHANGE} WHERE item = ? ORDER BY rowid`);
  const update = db.prepare(
    "UPDATE work_items SET state = ?, resolution = ?, duplicate_of = ? WHERE id = ? AND state <> ?",
  );
  const record = db.prepare(
    "INSERT INTO changes (idempotency_key, item, state, resolution, duplicate_of) VALUES (?, ?, ?, ?, ?)",
  );

  return {
    find: (id) => find.get(id) as WorkItem | undefined,
    change: ({ item, state, resolution, duplicateOf }, idempotencyKey) =>
      transaction(() => {
        const before = made.get(idempotencyKey);
        if (before !== undefined) return before as unknown as Change;
        if (update.run(state, resolution, duplicateOf, item, state).changes === 0) return undefined;
        record.run(idempotencyKey, item, state, resolution, duplicateOf);
        return { item, state, resolution, duplicateOf };
      }),
    history: (id) => history.all(id) as unknown as Change[],
    close: () => db.close(),
  };
}

function open(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: 5_000 });
  } catch (cause) {
    throw new Error(`The tracker's database ${file} cannot be opened: ${(cause as Error).message}.`, { cause });
  }
}
