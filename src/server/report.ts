import type { Trace } from "../flow/index.ts";

/** What a server does without a trace: faults and warnings go to `console.error`. */
export const report: Trace = (event) => {
  if (event.type === "fault") console.error(`[volley] fault in ${event.target}:`, event.error);
  else if (event.type === "warning") console.error(`[volley] ${event.target}: ${event.message}`);
};
