import type { Counter, Histogram, Meter } from "@opentelemetry/api";

/** What is counted. */
export interface Instruments {
  readonly rounds: Histogram;
  readonly refused: Counter;
  readonly effects: Counter;
  readonly asks: Counter;
  readonly shed: Counter;
  readonly limited: Counter;
  readonly faults: Counter;
}

export function createInstruments(meter: Meter): Instruments {
  return {
    rounds: meter.createHistogram("volley.round.duration", {
      description: "How long rounds take.",
      unit: "s",
      advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] },
    }),
    refused: meter.createCounter("volley.states.refused", {
      description: "States that were refused, by reason.",
      unit: "{state}",
    }),
    effects: meter.createCounter("volley.effects", {
      description: "What the ledger said of effects, and what became of them.",
      unit: "{effect}",
    }),
    asks: meter.createCounter("volley.asks", {
      description: "Questions, and those of them that were asked again.",
      unit: "{question}",
    }),
    shed: meter.createCounter("volley.rounds.shed", {
      description: "Rounds that were handed back because the process had too much to do.",
      unit: "{round}",
    }),
    limited: meter.createCounter("volley.limited", {
      description: "What was refused with 429, by the limit that was reached.",
      unit: "{refusal}",
    }),
    faults: meter.createCounter("volley.faults", { description: "Errors that nobody expected.", unit: "{fault}" }),
  };
}
