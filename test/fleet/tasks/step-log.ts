// Which steps really ran, whatever the engine says: a file of its own to which all processes write.
import { DatabaseSync } from "node:sqlite";

export interface StepLog {
  /** A worker has begun a run of an order's task. */
  run(order: string): void;
  begin(order: string, step: string): void;
  /** Said by the run whose step was saved, after that. */
  kept(order: string, step: string, value: string): void;
  /** A run has found that its task is another one's. */
  lost(): void;
  /** The id of a task whose server died over it. */
  born(order: string, id: string): void;
  close(): void;
  /** Steps that began after they had been kept: of which order, and in which process. */
  finishedAgain(): readonly string[];
  /** Steps that began anew and had not been kept. */
  unfinishedAgain(): readonly string[];
  lostRuns(): number;
  /** The orders of which a process has begun a step that was not kept, and of which no run has begun since. */
  openOf(pid: number): readonly string[];
  /** What was kept of each step of an order; more than one value each: of several runs or tasks. */
  valuesOf(order: string): ReadonlyMap<string, readonly string[]>;
  bornOf(order: string): string | undefined;
}

export function openStepLog(path: string): StepLog {
  const db = new DatabaseSync(path);
  // What the system has survives every death of a process; the disk need not have it.
  db.exec(`
    pragma busy_timeout = 30000; pragma journal_mode = wal; pragma synchronous = off;
    create table if not exists line (number integer primary key, order_id text, what text, step text, value text);
    create index if not exists line_order on line (order_id, what);
  `);
  const add = db.prepare("insert into line (order_id, what, step, value) values (?, ?, ?, ?)");
  const count = db.prepare("select count(*) as lines from line where what = ?");
  const kept = db.prepare("select step, value from line where order_id = ? and what = 'kept' order by number");
  const born = db.prepare("select value from line where order_id = ? and what = 'born'");
  // Numbers rise in the order of writing: there is one writer at a time.
  const keptBefore = `exists (select 1 from line as kept where kept.order_id = began.order_id and kept.what = 'kept'
    and kept.step = began.step and kept.number < began.number)`;
  const begunBefore = `exists (select 1 from line as first where first.order_id = began.order_id and first.what = 'began'
    and first.step = began.step and first.number < began.number)`;
  const open = db.prepare(`select order_id from line as began where what = 'began' and value = ? and not exists (
    select 1 from line as later where later.order_id = began.order_id
    and (later.step = began.step or later.what = 'run') and later.number > began.number)`);
  const begun = (condition: string): string[] =>
    db
      .prepare(`select order_id, step, value from line as began where what = 'began' and ${condition}`)
      .all()
      .map(({ order_id, step, value }) => `${order_id} ${step} in ${value}`);
  return {
    run: (order) => void add.run(order, "run", "", String(process.pid)),
    begin: (order, step) => void add.run(order, "began", step, String(process.pid)),
    kept: (order, step, value) => void add.run(order, "kept", step, value),
    lost: () => void add.run("", "lost", "", ""),
    born: (order, id) => void add.run(order, "born", "", id),
    close: () => db.close(),
    finishedAgain: () => begun(keptBefore),
    unfinishedAgain: () => begun(`${begunBefore} and not ${keptBefore}`),
    openOf: (pid) => open.all(String(pid)).map(({ order_id }) => String(order_id)),
    lostRuns: () => Number(count.get("lost")?.lines),
    valuesOf(order) {
      const values = new Map<string, string[]>();
      for (const { step, value } of kept.all(order)) {
        values.set(String(step), [...(values.get(String(step)) ?? []), String(value)]);
      }
      return values;
    },
    bornOf(order) {
      const row = born.get(order);
      return row === undefined ? undefined : String(row.value);
    },
  };
}
