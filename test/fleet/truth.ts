// What was really done, whatever the ledger says: a file of its own to which effects write, as to a shop or a bank.
import { DatabaseSync } from "node:sqlite";

/** An effect as it comes to the shop. */
export interface Act {
  readonly order: string;
  readonly key: string;
  readonly value: unknown;
  /** The shop knows an idempotency key again, as a payment provider does; else it does whatever it is told. */
  readonly knowing: boolean;
  /** Whoever comes may have lost its claim, or looks after such a one: it may come although the effect is done. */
  readonly late: () => boolean;
}

export interface Truth {
  /** Does an effect and returns what was done, as JSON: for a known key, what was done then. */
  act(act: Act): string;
  /** What was done under an idempotency key, as JSON. */
  find(key: string): string | undefined;
  /** True for the first caller: each order gets its trouble once. */
  takeTrouble(order: string, kind: string): boolean;
  /** How often a kind of trouble was taken. */
  troubles(kind: string): number;
  /** What was done, by order. */
  done(): ReadonlyMap<string, readonly string[]>;
  /** How often a known key came again: from those who were late, and from others. */
  again(): { readonly late: number; readonly wrongly: number };
  close(): void;
}

export function openTruth(path: string): Truth {
  const db = new DatabaseSync(path);
  // What the system has survives every death of a process; the disk need not have it.
  db.exec(`
    pragma busy_timeout = 30000; pragma journal_mode = wal; pragma synchronous = off;
    create table if not exists effect (order_id text, key text, value text, how text);
    create index if not exists effect_key on effect (key);
    create table if not exists trouble (order_id text primary key, kind text);
  `);
  const add = db.prepare("insert into effect values (?, ?, ?, ?)");
  const byKey = db.prepare("select value from effect where key = ? and how = 'done'");
  const count = db.prepare("select count(*) as times from effect where how = ?");
  const taken = db.prepare("select count(*) as times from trouble where kind = ?");
  const take = db.prepare("insert or ignore into trouble values (?, ?)");

  const find = (key: string): string | undefined => {
    const row = byKey.get(key);
    return row === undefined ? undefined : String(row.value);
  };
  const times = (how: string): number => Number(count.get(how)?.times);
  return {
    act({ order, key, value, knowing, late }) {
      db.exec("begin immediate");
      const before = knowing ? find(key) : undefined;
      const done = before ?? JSON.stringify(value);
      add.run(order, key, done, before === undefined ? "done" : late() ? "late" : "wrongly");
      db.exec("commit");
      return done;
    },
    find,
    takeTrouble: (order, kind) => take.run(order, kind).changes === 1,
    troubles: (kind) => Number(taken.get(kind)?.times),
    done() {
      const found = new Map<string, string[]>();
      for (const { order_id, value } of db.prepare("select order_id, value from effect where how = 'done'").all()) {
        const order = String(order_id);
        found.set(order, [...(found.get(order) ?? []), String(value)]);
      }
      return found;
    },
    again: () => ({ late: times("late"), wrongly: times("wrongly") }),
    close: () => db.close(),
  };
}
