// The table: one column a store, and whether each row is what it has to be.
import type { Counts } from "./counts.ts";
import { happened, isZero, type Row, reportRows, sum } from "./table.ts";

/** Below it the heap's own noise. */
const NOISE_BYTES = 256;

const ROWS: readonly Row<Counts>[] = [
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
  return reportRows(ROWS, runs);
}
