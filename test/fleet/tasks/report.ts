// The table of a fleet of tasks: one column an engine.
import { happened, isZero, type Row, reportRows, sum } from "../table.ts";
import type { TaskCounts } from "./counts.ts";

const ROWS: readonly Row<TaskCounts>[] = [
  { name: "tasks", count: ({ tasks }) => tasks },
  {
    name: "  finished",
    count: ({ finished }) => finished,
    must: (count, { tasks, cancelled }) => count + cancelled === tasks,
  },
  { name: "  cancelled", count: ({ cancelled }) => cancelled, must: happened },
  { name: "  ended in a clear error, then tried anew", count: ({ clearErrors }) => sum(clearErrors) },
  { name: "processes killed", count: ({ kills }) => kills, must: happened },
  { name: "  before the task's first step", count: ({ killsBeforeFirstStep }) => killsBeforeFirstStep, must: happened },
  { name: "  in a step, or right after it", count: ({ killsAtSteps }) => killsAtSteps, must: happened },
  { name: "  between claim and settle", count: ({ killsInEffects }) => killsInEffects, must: happened },
  { name: "tasks found by their id after their server died", count: ({ foundAgain }) => foundAgain, must: happened },
  { name: "processes stopped across a lease", count: ({ stops }) => stops, must: happened },
  {
    name: "  runs that woke without their task",
    count: ({ lostRuns }) => lostRuns,
    // A worker that is the only one finds its tasks as it left them.
    must: (count, { workers }) => count > 0 || workers === 1,
  },
  {
    name: "unfinished steps and effects that were taken over",
    count: ({ unfinishedAgain }) => unfinishedAgain,
    must: happened,
  },
  { name: "answers sent again", count: ({ sentAgain }) => sentAgain, must: happened },
  { name: "answers sent after the end", count: ({ late }) => late, must: happened },
  { name: "tries of other users", count: ({ foreign }) => foreign, must: happened },
  { name: "tasks followed on by another client", count: ({ moves }) => moves, must: happened },
  { name: "replays of the state before the task", count: ({ replays }) => replays, must: happened },
  { name: "  told that other answers had decided", count: ({ conflicts }) => conflicts, must: happened },
  { name: "effects done", count: ({ effects }) => effects, must: happened },
  { name: "  asked for again by an owner that came too late", count: ({ effectsLate }) => effectsLate },
  { name: "tasks that did not end", count: ({ notEnded }) => notEnded, must: isZero },
  {
    name: "tasks that ended twice, or otherwise than told",
    count: ({ endedOtherwise }) => endedOtherwise,
    must: isZero,
  },
  { name: "finished steps that ran again", count: ({ finishedAgain }) => finishedAgain, must: isZero },
  { name: "effects done twice", count: ({ doneTwice }) => doneTwice, must: isZero },
  { name: "effects lost though success was told", count: ({ lost }) => lost, must: isZero },
  { name: "answers lost, or replaced by later ones", count: ({ answersLost }) => answersLost, must: isZero },
  { name: "answers asked for again", count: ({ askedAgain }) => askedAgain, must: isZero },
  {
    name: "tries of other users that told or changed anything",
    count: ({ foreignAccepted }) => foreignAccepted,
    must: isZero,
  },
  { name: "second tasks from one flow", count: ({ secondTasks }) => secondTasks, must: isZero },
  { name: "anything else that went wrong", count: ({ unclear }) => unclear.length, must: isZero },
];

/** Prints the table; true when every row is what it has to be. */
export function reportTasks(runs: ReadonlyMap<string, TaskCounts>): boolean {
  return reportRows(ROWS, runs);
}
