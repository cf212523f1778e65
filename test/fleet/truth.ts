// What was really done, whatever the ledger says: a file of its own to which effects write, as to a shop or a bank.
import { DatabaseSync } from "node:sqlite";

export interface Truth {
  /**
   * Does an effect and returns what was done, as JSON. With `knowing` the shop knows an idempotency key again, as a
   * payment provider does, and returns what it did then; else it does whatever it is told.
   */
  act(effect: { readonly order: string; readonly key: string; readonly value: unknown }, knowing: boolean): string;
  /** What was done under an idempotency key, as JSON. */
  find(key: string): string | undefined;
  /** True for the first caller: each order gets its trouble once. */
  takeTrouble(order: string): boolean;
  /** What was done, by order. */
  done(): ReadonlyMap<string, readonly string[]>;
  /** How often the shop was told again what it knew already. */
  known(): number;
  close(): void;
}

export function openTruth(path: string): Truth {
  const db = new DatabaseSync(path);
  // What the system has survives every death of a process; the disk need not have it.
  db.exec(`
    pragma busy_timeout = 30000; pragma journal_mode = wal; pragma synchronous = off;
    create table if not exists effect (order_id text, key text, value text, fresh integer);
    create index if not exists effect_key on effect (key);
    create table if not exists trouble (order_id text primary key);
  `);
  const add = db.prepare("insert into effect values (?, ?, ?, ?)");
  const byKey = db.prepare("select value from effect where key = ? and fresh = 1");
  const take = db.prepare("insert or ignore into trouble values (?)");

  const find = (key: string): string | undefined => {
    const row = byKey.get(key);
    return row === undefined ? undefined : String(row.value);
  };
  return {
    act({ order, key, value }, knowing) {
      db.exec("begin immediate");
      const before = knowing ? find(key) : undefined;
      const done = before ?? JSON.stringify(value);
      add.run(order, key, done, before === undefined ? 1 : 0);
      db.exec("commit");
      return done;
    },
    find,
    takeTrouble: (order) => take.run(order).changes === 1,
    done() {
      const found = new Map<string, string[]>();
      for (const { order_id, value } of db.prepare("select order_id, value from effect where fresh = 1").all()) {
        const order = String(order_id);
        found.set(order, [...(found.get(order) ?? []), String(value)]);
      }
      return found;
    },
    known: () => Number(db.prepare("select count(*) as known from effect where fresh = 0").get()?.known),
    close: () => db.close(),
  };
}
