// What is counted in one run of tasks.

export interface TaskCounts {
  /** How many processes run tasks. */
  workers: number;
  tasks: number;
  finished: number;
  cancelled: number;
  /** Ended in an error that says what is wrong, by what it says. */
  readonly clearErrors: Map<string, number>;
  kills: number;
  killsBeforeFirstStep: number;
  killsAtSteps: number;
  killsInEffects: number;
  stops: number;
  /** Tasks whose server died once they were stored, and that were found by the same state. */
  foundAgain: number;
  lostRuns: number;
  unfinishedAgain: number;
  sentAgain: number;
  late: number;
  foreign: number;
  replays: number;
  conflicts: number;
  moves: number;
  effects: number;
  effectsLate: number;
  notEnded: number;
  endedOtherwise: number;
  finishedAgain: number;
  doneTwice: number;
  lost: number;
  answersLost: number;
  askedAgain: number;
  foreignAccepted: number;
  secondTasks: number;
  /** What went wrong in no other way that has a row. */
  readonly unclear: string[];
}

export function noTaskCounts(): TaskCounts {
  return {
    workers: 0,
    tasks: 0,
    finished: 0,
    cancelled: 0,
    clearErrors: new Map(),
    kills: 0,
    killsBeforeFirstStep: 0,
    killsAtSteps: 0,
    killsInEffects: 0,
    stops: 0,
    foundAgain: 0,
    lostRuns: 0,
    unfinishedAgain: 0,
    sentAgain: 0,
    late: 0,
    foreign: 0,
    replays: 0,
    conflicts: 0,
    moves: 0,
    effects: 0,
    effectsLate: 0,
    notEnded: 0,
    endedOtherwise: 0,
    finishedAgain: 0,
    doneTwice: 0,
    lost: 0,
    answersLost: 0,
    askedAgain: 0,
    foreignAccepted: 0,
    secondTasks: 0,
    unclear: [],
  };
}
