// A flow as its client sees it: what it was asked, and whether that was right.
import type { Counts } from "./counts.ts";
import type { Answers, FlowPlan } from "./schedule.ts";

/** One try of a flow under an order of its own, whatever client plays it. */
export interface Attempt {
  readonly plan: FlowPlan;
  readonly order: string;
  readonly args: { readonly order: string; readonly trouble: string };
}

export function attempt(plan: FlowPlan, number: number): Attempt {
  // An invoice has a name of its own, by which a second try is known again; for the others a second try is another order.
  const order = plan.tool === "invoice" ? `invoice-${plan.index}` : `${plan.tool}-${plan.index}-${number}`;
  return { plan, order, args: { order, trouble: number === 1 ? plan.trouble : "none" } };
}

const REPLACED: ReadonlyMap<string, string> = new Map([
  ["size", "litres"],
  ["litres", "size"],
]);

/** Answers questions, and counts those that had an answer already. */
export function createPerson(answers: Answers, counts: Counts): (fields: readonly string[]) => Answers {
  const answered = new Set<string>();
  return (fields) => {
    const given: Record<string, string | number | boolean> = {};
    for (const field of fields) {
      if (answered.has(field)) counts.askedAgain += 1;
      if (answered.has(REPLACED.get(field) ?? "")) counts.replacedQuestions += 1;
      answered.add(field);
      given[field] = answers[field] ?? "";
    }
    return given;
  };
}
