import type { Flow } from "./flow.ts";
import type { OpenAsk } from "./outcome.ts";
import type { Run } from "./run.ts";

const MOST_NAMES = 10;

/**
 * Tells of answers and steps whose names the handler did not come to before it asked something new: most likely they are
 * others in each round, and people are asked, or work is done, again and again.
 */
export function tellChangedNames(run: Run, flow: Flow, asks: readonly OpenAsk[]): void {
  const { definition, services, journal } = flow;
  // Behind a question that is asked again nothing is called yet.
  if (services.trace === undefined || !flow.presented || asks.length === 0 || asks.some(({ reason }) => reason !== ""))
    return;
  // Other versions of the handler that the flow has met had names of their own.
  if (flow.version > 1) return;
  const names: { type: "ask" | "step"; name: string }[] = [];
  for (const [type, name] of journal.groups.flat()) {
    // Without a new step this round may only have been quicker than the one that did the old.
    const judged = type === "a" || (type === "s" && run.recorded);
    if (!judged || run.hasUsed(type, name)) continue;
    names.push({ type: type === "a" ? "ask" : "step", name: name.slice(0, 128) });
  }
  if (names.length === 0) return;
  services.trace({
    type: "name_changed",
    within: flow.traced,
    target: definition.name,
    names: names.slice(0, MOST_NAMES),
  });
}
