// The table: one column a store, and whether each row is what it has to be.
import type { Counts } from "./counts.ts";

interface Row {
  readonly name: string;
  count(counts: Counts): number;
  /** What it has to be; undefined: whatever it is. */
  readonly must?: (count: number, counts: Counts) => boolean;
}

/** Below it the heap's own noise. */
const NOISE_BYTES = 256;
const isZero = (count: number): boolean => count === 0;
/** A trouble that never came proves nothing. */
const happened = (count: number): boolean => count > 0;

const ROWS: readonly Row[] = [
  { name: "flows", count: ({ flows }) => flows },
  { name: "  finished", count: ({ finished }) => finished, must: (count, { flows }) => count >= 0.9 * flows },
  { name: "  ended in a clear error, then tried anew", count: ({ clearErrors }) => sum(clearErrors) },
  { name: "rounds", count: ({ rounds }) => rounds, must: happened },
  { name: "  with a state and no question (tickets, shed load)", count: ({ stateOnly }) => stateOnly, must: happened },
  { name: "processes killed", count: ({ kills }) => kills, must: happened },
  { name: "  between claim and settle", count: ({ killsInEffects }) => killsInEffects, must: happened },
  { name: "processes stopped across a lease", count: ({ stops }) => stops, must: happened },
  { name: "connections cut between effect and answer", count: ({ cuts }) => cuts, must: happened },
  { name: "questions replaced by version 2", count: ({ replacedQuestions }) => replacedQuestions, must: happened },
  { name: "replays tried", count: ({ replays }) => replays, must: happened },
  { name: "  foreign states refused", count: ({ refusals }) => refusals, must: happened },
  { name: "  told what other answers had done", count: ({ conflicts }) => conflicts, must: happened },
  { name: "effects done", count: ({ effects }) => effects, must: happened },
  { name: "  asked for again by an owner that came too late", count: ({ late }) => late },
  { name: "answers asked for again", count: ({ askedAgain }) => askedAgain, must: isZero },
  { name: "effects done twice", count: ({ doneTwice }) => doneTwice, must: isZero },
  { name: "outcomes told that differ from what was done", count: ({ toldOtherwise }) => toldOtherwise, must: isZero },
  { name: "effects lost though success was told", count: ({ lost }) => lost, must: isZero },
  { name: "foreign states accepted", count: ({ foreignAccepted }) => foreignAccepted, must: isZero },
  { name: "flows with neither an end nor a clear error", count: ({ unclear }) => unclear.length, must: isZero },
  { name: "rows in the store for waiting rounds", count: ({ rowsOfWaiting }) => rowsOfWaiting, must: isZero },
  {
    name: `heap bytes a waiting round (noise below ${NOISE_BYTES})`,
    count: ({ heapOfWaiting }) => heapOfWaiting,
    must: (count) => count < NOISE_BYTES,
  },
];

/** Prints the table; true when every row is what it has to be. */
export function report(runs: ReadonlyMap<string, Counts>): boolean {
  const counts = [...runs.values()];
  console.log(`${" ".repeat(52)}${[...runs.keys()].map((store) => store.padStart(10)).join("")}`);
  let ok = true;
  for (const row of ROWS) {
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

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, each) => total + each, 0);
}
