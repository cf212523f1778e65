/**
 * Faults of the library that are known: the shapes and checks that find them are left out unless they are asked for
 * (`npm run simulate -- --known`). A fault that is mended is taken out of the list.
 *
 * H1: a race of a question and a sleep has another winner when it is played again. H5: a restart keeps effects and drops
 * the answers they rest on. H9: a race of steps that settle in one turn has another winner. H15: an effect begins after its
 * task has ended. H17: a worker that has lost its claim tells a failure, although the effect is done. subset: a round
 * that brings fewer answers gets an effect that was done on more of them, and may answer the others differently afterwards.
 */
export const KNOWN_AT_BASE: readonly string[] = ["H1", "H5", "H9", "H15", "H17", "subset"];
