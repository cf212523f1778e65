import { type OptionNames, VolleyError } from "../protocol/index.ts";
import type { FlowDefinition, FlowOptions } from "./types.ts";

export const FLOW_OPTIONS: OptionNames<FlowOptions> = {
  ttlMs: true,
  flowMs: true,
  maxStateBytes: true,
  roundTimeoutMs: true,
  version: true,
  whenOlder: true,
  answersWithoutState: true,
  salient: true,
  singleUse: true,
};

const MINUTE = 60_000;
const LONGEST = 30 * 24 * 60 * MINUTE;

/**
 * Fills in and checks the flow options of a tool, prompt or resource, once, at registration.
 *
 * @throws VolleyError `registration_invalid`, naming the option and its range
 */
export function defineFlow(kind: FlowDefinition["kind"], name: string, options: FlowOptions = {}): FlowDefinition {
  const check = (option: string, value: number, least: number, most: number): number => {
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new VolleyError(
      "registration_invalid",
      `${kind} "${name}": ${option} must be a whole number from ${least} to ${most}, not ${String(value)}.`,
    );
  };
  if (options.singleUse && options.answersWithoutState === "accept") {
    throw new VolleyError(
      "registration_invalid",
      `${kind} "${name}": singleUse holds states to one set of answers, so it goes with answersWithoutState: "ask" only.`,
    );
  }
  const ttlMs = check("ttlMs", options.ttlMs ?? 10 * MINUTE, 1, LONGEST);
  return {
    kind,
    name,
    ttlMs,
    flowMs: check("flowMs", options.flowMs ?? Math.max(60 * MINUTE, ttlMs), ttlMs, LONGEST),
    maxStateBytes: check("maxStateBytes", options.maxStateBytes ?? 64 * 1024, 512, 4 * 1024 * 1024),
    roundTimeoutMs: check("roundTimeoutMs", options.roundTimeoutMs ?? 30_000, 1, 60 * MINUTE),
    version: check("version", options.version ?? 1, 1, Number.MAX_SAFE_INTEGER),
    whenOlder: options.whenOlder ?? "continue",
    answersWithoutState: options.answersWithoutState ?? "ask",
    salient: options.salient,
    singleUse: options.singleUse ?? false,
  };
}
