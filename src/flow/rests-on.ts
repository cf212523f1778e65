import { canonicalJson, digest } from "../state/index.ts";
import type { Flow } from "./flow.ts";

/**
 * Digests of the answers that a flow has so far, which whatever is done now rests on.
 *
 * An answer is the same in any spelling, and an approval is one for the question that it was pinned to. Each has its key as
 * a digest with the flow's id: only within a flow may an older state bring another answer, so only there are two compared,
 * and a ledger gets text that every store can keep, whatever names the author and the client use.
 */
export function restsOn(flow: Flow): Readonly<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const [, key, , response, pin] of flow.journal.answers) {
    const at = JSON.stringify([flow.id, key]);
    digests[digest(at)] = digest(JSON.stringify([at, canonicalJson(response), pin]));
  }
  return digests;
}
