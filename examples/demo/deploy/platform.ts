import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

/** One piece of work, as the platform's log has it. */
export interface Work {
  readonly id: number;
  readonly name: string;
  /** Which process does it. */
  readonly by: string;
  /** Not while it is under way, nor ever when its process was killed. */
  readonly done: boolean;
}

export interface Release {
  readonly app: string;
  readonly region: string;
  readonly share: string;
}

/** The platform that is deployed to: a system of its own, here in one file. Its log says who began what, and what was done. */
export interface Platform {
  build(app: string): Promise<string>;
  copy(image: string, region: string): Promise<void>;
  start(image: string, region: string): Promise<void>;
  check(image: string, region: string): Promise<void>;
  /** Gives users the app, at most once a key; returns what was released under that key, now or before. */
  release(release: Release, idempotencyKey: string): Release;
  log(): readonly Work[];
  releases(): readonly Release[];
  close(): void;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS work (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, by TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE IF NOT EXISTS releases (
    idempotency_key TEXT PRIMARY KEY, app TEXT NOT NULL, region TEXT NOT NULL, share TEXT NOT NULL
  ) STRICT;
`;

/** Opens the platform in `file` for the process `by`. */
export function openPlatform(file: string, by: string): Platform {
  const db = open(file);
  db.exec(SCHEMA);
  const begin = db.prepare("INSERT INTO work (name, by) VALUES (?, ?)");
  const end = db.prepare("UPDATE work SET done = 1 WHERE id = ?");
  const log = db.prepare("SELECT id, name, by, done FROM work ORDER BY id");
  const record = db.prepare("INSERT INTO releases VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
  const recorded = db.prepare("SELECT app, region, share FROM releases WHERE idempotency_key = ?");
  const releases = db.prepare("SELECT app, region, share FROM releases ORDER BY rowid");

  async function work(name: string, seconds: number): Promise<void> {
    const { lastInsertRowid } = begin.run(name, by);
    await delay(seconds * 1_000);
    end.run(lastInsertRowid);
  }

  return {
    async build(app) {
      await work("build", 1);
      return `${app.replaceAll(" ", ":")}-image`;
    },
    copy: () => work("copy", 2.5),
    start: () => work("start", 1.5),
    check: () => work("check", 1),
    release({ app, region, share }, idempotencyKey) {
      record.run(idempotencyKey, app, region, share);
      return recorded.get(idempotencyKey) as unknown as Release;
    },
    log: () => log.all().map((row) => ({ ...row, done: row.done === 1 }) as Work),
    releases: () => releases.all() as unknown as Release[],
    close: () => db.close(),
  };
}

function open(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: 5_000 });
  } catch (cause) {
    throw new Error(`The platform's database ${file} cannot be opened: ${(cause as Error).message}.`, { cause });
  }
}
