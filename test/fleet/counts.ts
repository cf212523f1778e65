// What is counted in one run. A row is judged: some must be 0, and troubles that did not happen prove nothing.

export interface Counts {
  flows: number;
  finished: number;
  /** Ended in an error that says what is wrong, by what it says. */
  readonly clearErrors: Map<string, number>;
  rounds: number;
  kills: number;
  killsInEffects: number;
  stops: number;
  cuts: number;
  /** Rounds that ended with a state and no question: tickets, and shed load. */
  stateOnly: number;
  replacedQuestions: number;
  replays: number;
  conflicts: number;
  refusals: number;
  effects: number;
  /** How often owners that had been stopped asked the shop for what their successors had done. */
  late: number;
  askedAgain: number;
  doneTwice: number;
  toldOtherwise: number;
  lost: number;
  foreignAccepted: number;
  /** What those flows said that neither finished nor ended in a clear error. */
  readonly unclear: string[];
  rowsOfWaiting: number;
  heapOfWaiting: number;
}

export function noCounts(): Counts {
  return {
    flows: 0,
    finished: 0,
    clearErrors: new Map(),
    rounds: 0,
    kills: 0,
    killsInEffects: 0,
    stops: 0,
    cuts: 0,
    stateOnly: 0,
    replacedQuestions: 0,
    replays: 0,
    conflicts: 0,
    refusals: 0,
    effects: 0,
    late: 0,
    askedAgain: 0,
    doneTwice: 0,
    toldOtherwise: 0,
    lost: 0,
    foreignAccepted: 0,
    unclear: [],
    rowsOfWaiting: 0,
    heapOfWaiting: 0,
  };
}
