// A table of counts: one column a run, and whether each row is what it has to be.

export interface Row<Counts> {
  readonly name: string;
  count(counts: Counts): number;
  /** What it has to be; undefined: whatever it is. */
  readonly must?: (count: number, counts: Counts) => boolean;
}

/** What runs say beside their numbers. */
interface Remarks {
  /** Ended in an error that says what is wrong, by what it says. */
  readonly clearErrors: ReadonlyMap<string, number>;
  /** What those said that neither finished nor ended in a clear error. */
  readonly unclear: readonly string[];
}

export const isZero = (count: number): boolean => count === 0;
/** A trouble that never came proves nothing. */
export const happened = (count: number): boolean => count > 0;

/** Prints the table; true when every row is what it has to be. */
export function reportRows<Counts extends Remarks>(
  rows: readonly Row<Counts>[],
  runs: ReadonlyMap<string, Counts>,
): boolean {
  const counts = [...runs.values()];
  console.log(`${" ".repeat(52)}${[...runs.keys()].map((store) => store.padStart(10)).join("")}`);
  let ok = true;
  for (const row of rows) {
    const values = counts.map((each) => row.count(each));
    const good = counts.every((each) => row.must?.(row.count(each), each) ?? true);
    ok &&= good;
    console.log(
      `${row.name.padEnd(52)}${values.map((value) => String(value).padStart(10)).join("")}${good ? "" : "  FAIL"}`,
    );
  }
  for (const [store, { clearErrors, unclear }] of runs) {
    for (const [sentence, times] of clearErrors) console.log(`${store}: ${times} × ${sentence}`);
    for (const sentence of unclear) console.log(`${store}: FAIL ${sentence}`);
  }
  return ok;
}

export function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, each) => total + each, 0);
}
